import { createHash } from 'node:crypto'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { Caller } from '../domain/access.ts'
import { nameFault } from '../domain/names.ts'
import { commit, keys, type Person, putPerson, read } from '../engine/store.ts'
import { Conflict, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { zoneName } from '../time/index.ts'

/** Who may vouch for people besides keys: an OpenID Connect provider. */
export interface IdentityProvider {
  /** Compared with `iss` as it stands. */
  readonly issuer: string
  /** What `aud` must hold. */
  readonly audience: string
  /** Null: where the issuer's discovery document says. */
  readonly jwksUri: string | null
}

/**
 * Finds out who a bearer token (a JWT) speaks for.
 *
 * @returns the person, or in words what is wrong with the token
 * @throws  Unavailable when the provider's keys cannot be had
 */
export type Identity = (token: string) => Promise<Caller | string>

/**
 * Reads ROUSE_OIDC_ISSUER, ROUSE_OIDC_AUDIENCE and ROUSE_OIDC_JWKS_URI.
 *
 * @returns null when none is set
 * @throws  Error that says what is missing or does not fit
 */
export function providerFromEnv(env: Readonly<Record<string, string | undefined>>): IdentityProvider | null {
  const issuer = env.ROUSE_OIDC_ISSUER || null
  const audience = env.ROUSE_OIDC_AUDIENCE || null
  const jwksUri = env.ROUSE_OIDC_JWKS_URI || null
  if (issuer === null && audience === null && jwksUri === null) return null
  if (issuer === null || audience === null)
    throw new Error('ROUSE_OIDC_ISSUER and ROUSE_OIDC_AUDIENCE: expected both or neither')
  for (const [name, url] of Object.entries({ ROUSE_OIDC_ISSUER: issuer, ROUSE_OIDC_JWKS_URI: jwksUri }))
    if (url !== null && !isTrustworthy(url))
      throw new Error(`${name}: expected an https:// URL (http:// on this machine only), got "${url}"`)
  return { issuer, audience, jwksUri }
}

/** Keys that come over plain HTTP are whoever's stands in between. */
const isTrustworthy = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
}

/** Three parts, the first of which begins with `{"`: no key of ours has a dot. */
export const isToken = (bearer: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(bearer)

/** With a shared secret (HS256) or none at all, whoever has the public key could sign. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const clockToleranceSeconds = 60
const timeoutMs = 5_000

export function openIdentity(world: World, provider: IdentityProvider): Identity {
  // Loaded with the first token: a start that never sees one, and a Lambda without a provider, do without.
  let ready: Promise<{ jose: typeof import('jose'); jwks: JWTVerifyGetKey }> | null = null
  const load = async () => {
    const jose = await import('jose')
    const uri = provider.jwksUri ?? (await discovered(provider.issuer))
    return { jose, jwks: jose.createRemoteJWKSet(new URL(uri), { timeoutDuration: timeoutMs }) }
  }
  return async (token) => {
    ready ??= load()
    let payload: JWTPayload
    try {
      const { jose, jwks } = await ready
      const { issuer, audience } = provider
      const verified = await jose.jwtVerify(token, jwks, {
        issuer,
        audience,
        algorithms,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(world.clock.now()),
      })
      payload = verified.payload
    } catch (error) {
      const fault = faultOf(error)
      if (fault !== null) return fault
      // What could not be loaded is asked for again by the next token.
      ready = ready !== null && (await settledWell(ready)) ? ready : null
      throw new Unavailable('the keys of the identity provider cannot be had now', error)
    }
    const { sub } = payload
    if (typeof sub !== 'string' || sub === '' || sub.length > 255) return 'its "sub" names nobody'
    return await personOf(world, provider.issuer, sub, payload)
  }
}

const settledWell = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  )

/** What is wrong with the token; null when the fault is not the token's. */
function faultOf(error: unknown): string | null {
  const { code, claim } = error as { code?: unknown; claim?: unknown }
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'it has expired'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return `its "${typeof claim === 'string' ? claim : 'claim'}" is missing or not what is expected here`
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'it is not signed with an algorithm that is accepted'
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
      return 'it is signed with a key that the identity provider does not have'
    case 'ERR_JWS_INVALID':
    case 'ERR_JWT_INVALID':
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'its signature does not hold'
    default:
      return null
  }
}

/** OpenID Connect Discovery 1.0, section 4. */
async function discovered(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' })
  const document = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown }
  // 4.3: or one issuer could speak for another.
  if (!answer.ok || document.issuer !== issuer) throw new Error(`${url} is no discovery document of ${issuer}`)
  if (typeof document.jwks_uri !== 'string' || !isTrustworthy(document.jwks_uri))
    throw new Error(`${url} names no "jwks_uri" that can be trusted`)
  return document.jwks_uri
}

/** The person of a subject, made at first sight. A token makes nobody an admin, whatever it says. */
async function personOf(world: World, issuer: string, subject: string, claims: JWTPayload): Promise<Caller> {
  const id = personId(issuer, subject)
  // Names no stored key: it stands for this person's tokens in rate limits, idempotency and the audit trail.
  const caller: Caller = { kind: 'person', key: `jwt_${id.slice(4)}`, person: id, admin: false }
  if ((await read<Person>(world, keys.person(id))) !== null) return caller
  const now = world.clock.now()
  const zone = typeof claims.zoneinfo === 'string' ? zoneName(claims.zoneinfo) : null
  try {
    await commit(world, [
      putPerson({ id, name: nameIn(claims, subject), tz: zone ?? 'UTC', admin: false, createdAt: now }),
    ])
    world.log('info', 'person made for a token', { person: id })
  } catch (error) {
    // Two first calls at once made the same person.
    if (!(error instanceof Conflict)) throw error
  }
  return caller
}

function nameIn(claims: JWTPayload, subject: string): string {
  const names = [claims.name, claims.preferred_username, claims.email, subject.slice(0, 120)]
  return names.find((name): name is string => typeof name === 'string' && nameFault(name) === null) ?? 'somebody'
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Follows from issuer and subject, so that nothing has to remember which person a subject is: a ULID of time zero and 80 bits of SHA-256.
 * The fast hash of other derived ids would not do, since somebody may choose his subject.
 */
export function personId(issuer: string, subject: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest()
  return `per_0000000000${[...bytes.subarray(0, 16)].map((byte) => alphabet[byte & 31]).join('')}`
}
