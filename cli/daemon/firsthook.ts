import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import type { Client, Hook } from '../../src/client/index.js';
import { sessionFile } from '../../src/client/session.js';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { shellWord } from '../../src/kernel/shellword.js';
import { failed } from '../exit.js';
import { deliver, receiverPath, waitForExecution } from '../hooks/delivery.js';
import { shortPath } from './environment.js';

const NAME = 'hello';
const SECRET_BYTES = 32;

export interface FirstHook {
  hook: Hook;
  isNew: boolean;
}

/** In the config folder of the user (XDG), 0600. */
export const helloSecretFile = (): string => join(dirname(sessionFile()), `${NAME}.secret`);

/** Finds or creates the hook "hello". Rotates the secret if its file was lost. */
export const firstHook = async (client: Client): Promise<FirstHook> => {
  const found = await findHello(client);
  if (!found) return { hook: await makeHello(client), isNew: true };
  if (keptSecret() === null) await renewSecret(client, found);
  return { hook: found, isNew: false };
};

/**
 * Sends a signed test and waits for its success. Returns the duration in milliseconds. Rotates a
 * secret that is refused, once.
 */
export const fireHello = async (client: Client, hook: Hook): Promise<number> => {
  const began = performance.now();
  const { body } = await send(client).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.statusCode !== 401) throw error;
    await renewSecret(client, hook);
    return send(client);
  });
  const [executionId] = body.executions ?? [];
  if (executionId === undefined) throw isDisabled(hook);
  const execution = await waitForExecution(client, { id: hook.id, executionId });
  if (execution.status === 'success') return performance.now() - began;
  throw failed(
    `The test of "${NAME}" ended with ${execution.status}: ${execution.error ?? 'no reason given'}.`,
    `See: adjutant hooks executions ${NAME}`,
  );
};

/** A shell line that signs and sends a body. It reads the secret from its file. */
export const curlLine = (url: string): string =>
  [
    `body='{"text":"Hello from curl"}'; curl -sS ${url}/api/webhooks/${NAME}`,
    `-H 'Content-Type: application/json'`,
    `-H "X-Hub-Signature-256: sha256=$(printf %s "$body" |`,
    `openssl dgst -sha256 -hmac "$(cat ${shellPath(helloSecretFile())})" -r | cut -d' ' -f1)"`,
    `-d "$body"`,
  ].join(' ');

const findHello = async (client: Client): Promise<Hook | undefined> => {
  for (let cursor: string | undefined; ; ) {
    const page = await client.hooks.list({ query: { trigger: 'webhook', limit: 200, cursor } });
    const found = page.hooks.find(
      ({ name, triggerConfig }) => name === NAME && triggerConfig.webhookPath === NAME,
    );
    if (found || page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
};

const makeHello = (client: Client): Promise<Hook> =>
  client.hooks.create({
    body: {
      name: NAME,
      description: 'Turns any webhook that is signed with its secret into a notification',
      trigger: 'webhook',
      triggerConfig: { webhookPath: NAME, webhookSecret: keep(newSecret()) },
      action: 'notify',
      actionConfig: { notifyMessage: '{{webhook.body.text}}' },
    },
  });

const renewSecret = async (client: Client, { id }: Hook): Promise<void> => {
  const { secret } = await client.hooks['rotate-secret']({ id, body: { overlapMinutes: 0 } });
  keep(secret);
};

const send = (client: Client) =>
  deliver(client, {
    path: receiverPath(NAME),
    secret: keptSecret() ?? '',
    event: 'hello',
    id: randomUUID(),
    payload: JSON.stringify({ text: 'Hello from quickstart' }),
  });

const isDisabled = ({ id }: Hook): Error =>
  failed(`The hook "${NAME}" is disabled.`, `Enable it: adjutant hooks enable ${id}`);

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

const keptSecret = (): string | null => {
  const file = helloSecretFile();
  return existsSync(file) ? readFileSync(file, 'utf8').trim() || null : null;
};

const keep = (secret: string): string => {
  const file = helloSecretFile();
  makePrivateFolder(dirname(file));
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  // The mode above applies only to a new file.
  chmodSync(file, 0o600);
  return secret;
};

const shellPath = (path: string): string => {
  const short = shortPath(path);
  return /^[\w~@%+=:,./-]+$/.test(short) ? short : shellWord(path);
};
