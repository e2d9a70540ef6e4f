/**
 * Calls of services that the product has no client for, as plain HTTP. The emulator checks no signature, but reads from it which service and
 * region are meant.
 */
async function call(service: string, path: string, init: { method: string; body: object; target?: string }) {
  return await send(service, path, {
    method: init.method,
    body: JSON.stringify(init.body),
    headers: {
      'content-type': init.target ? 'application/x-amz-json-1.1' : 'application/json',
      ...(init.target ? { 'x-amz-target': init.target } : {}),
    },
  })
}

async function send(
  service: string,
  path: string,
  init: { readonly method: string; readonly body: string; readonly headers: Record<string, string> },
) {
  const { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region } = process.env
  const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`
  const answer = await fetch(`${endpoint}${path}`, { ...init, headers: { ...init.headers, authorization } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${service} ${path} answered ${answer.status}: ${text}`)
  return { text, failure: answer.headers.get('x-amz-function-error') }
}

/** Calls a function and answers what it returned. @throws Error when the function failed */
export async function invoke(name: string, event: object): Promise<unknown> {
  const { text, failure } = await call('lambda', `/2015-03-31/functions/${name}/invocations`, {
    method: 'POST',
    body: event,
  })
  if (failure !== null) throw new Error(`${name} failed: ${text}`)
  return JSON.parse(text)
}

export async function disableRule(name: string): Promise<void> {
  await call('events', '/', { method: 'POST', body: { Name: name }, target: 'AWSEvents.DisableRule' })
}

/** Gives a role a permission that the stack does not. */
export async function permit(role: string, action: string, resource: string): Promise<void> {
  const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: action, Resource: resource }] }
  const form = new URLSearchParams({
    Action: 'PutRolePolicy',
    Version: '2010-05-08',
    RoleName: role,
    PolicyName: action.replace(':', '-'),
    PolicyDocument: JSON.stringify(document),
  })
  await send('iam', '/', {
    method: 'POST',
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}
