import { render } from 'preact'
import '@preact/signals'
import { App } from './app.tsx'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/pages.css'
import './styles/works.css'
import './styles/conversation.css'
import './styles/settings.css'

render(<App />, document.getElementById('app')!)
