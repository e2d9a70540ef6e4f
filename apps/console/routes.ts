import type { ComponentType } from 'preact'
import { AgendaPage } from './pages/agenda.tsx'
import { ConversationPage } from './pages/conversation.tsx'
import { ConversationsPage } from './pages/conversations.tsx'
import { FeedPage } from './pages/feed.tsx'
import { FlowsPage } from './pages/flows.tsx'
import { PromotePage } from './pages/flows-new.tsx'
import { FlowPage } from './pages/flows-one.tsx'
import { FlowRunPage } from './pages/flows-run.tsx'
import { MonitorsPage } from './pages/monitors.tsx'
import { NewMonitorPage } from './pages/monitors-form.tsx'
import { MonitorPage } from './pages/monitors-one.tsx'
import { TriggerPage } from './pages/monitors-trigger.tsx'
import { EditTriggerPage, NewTriggerPage } from './pages/monitors-trigger-form.tsx'
import { TriggersPage } from './pages/monitors-triggers.tsx'
import { SchedulePage } from './pages/schedule.tsx'
import { EditSchedulePage, NewSchedulePage } from './pages/schedule-form.tsx'
import { SchedulesPage } from './pages/schedules.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { AgentPage } from './pages/settings-agent.tsx'
import type { IconName } from './parts/icon.tsx'

/** The left bar, from top to bottom. */
export const bar: readonly { readonly to: string; readonly name: string; readonly icon: IconName }[] = [
  { to: '/conversations', name: 'Conversations', icon: 'conversations' },
  { to: '/schedules', name: 'Schedules', icon: 'schedules' },
  { to: '/monitors', name: 'Monitors', icon: 'monitors' },
  { to: '/flows', name: 'Flows', icon: 'flows' },
  { to: '/feed', name: 'Feed', icon: 'feed' },
  { to: '/agenda', name: 'Next 24 hours', icon: 'agenda' },
  { to: '/settings', name: 'Settings', icon: 'settings' },
]

/** Every place below `/console` and its page; the first that fits. A page gets what stands in braces as `params`. */
export const routes: readonly (readonly [
  pattern: string,
  page: ComponentType<{ readonly params: Readonly<Record<string, string>> }>,
])[] = [
  ['/', ConversationsPage],
  ['/conversations', ConversationsPage],
  ['/conversations/{id}', ConversationPage],
  ['/schedules', SchedulesPage],
  ['/schedules/new', NewSchedulePage],
  ['/schedules/{id}', SchedulePage],
  ['/schedules/{id}/edit', EditSchedulePage],
  ['/monitors', MonitorsPage],
  ['/monitors/new', NewMonitorPage],
  ['/monitors/triggers', TriggersPage],
  ['/monitors/triggers/new', NewTriggerPage],
  ['/monitors/triggers/{id}', TriggerPage],
  ['/monitors/triggers/{id}/edit', EditTriggerPage],
  ['/monitors/{id}', MonitorPage],
  ['/flows', FlowsPage],
  ['/flows/promote', PromotePage],
  ['/flows/runs/{id}', FlowRunPage],
  ['/flows/{agent}/{name}', FlowPage],
  ['/feed', FeedPage],
  ['/agenda', AgendaPage],
  ['/settings', SettingsPage],
  ['/settings/agents/{id}', AgentPage],
]
