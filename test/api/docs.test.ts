import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyDocs } from '../../scripts/docs-page.mjs'
import { openFiles } from '../../shared/adapters/files.ts'
import { docsRoute } from '../../shared/api/docs.ts'
import { problemOf } from '../../shared/api/problem.ts'
import { inHouse } from './in-house.ts'

const dir = mkdtempSync(join(tmpdir(), 'rouse-docs-'))
beforeAll(() => copyDocs(dir))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function page(folder: string): Hono {
  const app = new Hono()
  docsRoute(app, {
    files: openFiles(pathToFileURL(`${folder}/`)),
    refusedAs: (error) => Response.json(problemOf(error), { status: problemOf(error).status }),
  })
  return app
}

describe('the page at /docs', () => {
  it('loads what is beside it and nothing else, and has nothing inline', async () => {
    const app = page(dir)
    const index = await app.request('/docs')
    expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(index.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'")
    const html = await index.text()
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url!)
    expect(loaded.length).toBeGreaterThan(3)
    for (const url of loaded.filter((one) => one !== 'data:,' && one !== '/openapi.json')) {
      const file = await app.request(url)
      expect([url, file.status, (await file.arrayBuffer()).byteLength > 100]).toEqual([url, 200, true])
    }
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
  })

  it('has no other file', async () => {
    const app = page(dir)
    for (const path of ['/docs/nothing.js', '/docs/..%2f..%2fpackage.json', '/docs/LICENSE'])
      expect([path, (await app.request(path)).status]).toEqual([path, 404])
  })

  it('says how it is built where it is not', async () => {
    const answer = await page(join(dir, 'nowhere')).request('/docs')
    const { detail } = (await answer.json()) as { detail: string }
    expect([answer.status, detail]).toEqual([404, expect.stringContaining('npm run build')])
  })

  it('is served by a node, with what every answer carries', async () => {
    const house = await inHouse({})
    const answer = await house.call('GET', '/docs')
    // From the sources the page is not built.
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    expect(answer.headers.get('x-request-id')).not.toBe(null)
    await house.close()
  })
})
