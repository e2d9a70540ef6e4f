/* global SwaggerUIBundle */
const dark = matchMedia('(prefers-color-scheme: dark)')
const show = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', show)
show()

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  // A key that was typed in is forgotten with the page.
  persistAuthorization: false,
  // Nothing is asked of a validator elsewhere.
  validatorUrl: null,
})
