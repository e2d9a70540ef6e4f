import type { Context, Hono } from 'hono'
import { Refused } from '../domain/refused.ts'
import type { Files } from '../ports/files.ts'
import { sent } from './console.ts'

/** `/docs`: openapi.json as a page, with everything it needs from here. Nobody has to be known to read it; what it calls needs a key. */
export function docsRoute(
  app: Hono,
  o: { readonly files: Files; readonly refusedAs: (error: unknown, c: Context) => Response },
): void {
  const page = (c: Context, path: string): Response => {
    const file = o.files(path)
    if (file !== null) return sent(file, c.req.raw, false)
    const why =
      path === 'index.html'
        ? 'the page is not built here: `npm run build` makes it. GET /openapi.json is what it shows'
        : `there is no ${path.slice(0, 200)} among the files of /docs`
    return o.refusedAs(new Refused('not_found', why), c)
  }
  app.get('/docs', (c) => page(c, 'index.html'))
  app.get('/docs/:file', (c) => page(c, c.req.param('file')))
}
