import { createHash, createSecretKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { migrations } from '../../migrations/all.js';
import { iso } from '../../src/kernel/clock.js';
import { mint } from '../../src/kernel/ids.js';
import { type Headers, verifySignature } from '../../src/kernel/signature.js';
import { openStore, type Store } from '../../src/store/store.js';

/**
 * What the receiver is measured against, as a process: `node bare.js <secret> [home]`. Without a
 * home it checks the HMAC and answers; with one it also does the receiver's durable work, in the
 * same thread and by the same procedure, with nothing else around it.
 */
const [secret = '', home] = process.argv.slice(2);
const key = createSecretKey(Buffer.from(secret));
const HOOK = 'hook_bench';

const openBench = async (folder: string): Promise<Store> => {
  const store = await openStore(
    { home: folder, migrations, auditKey: new Uint8Array(32) },
    { lost: () => process.exit(1), audited: () => undefined },
  );
  await store.transact([
    {
      sql: `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
        VALUES ('user_bench', 'bench', 'bench', '', 'admin', '')`,
      parameters: [],
    },
    {
      sql: `INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action, action_config,
          enabled, conditions, created_at, updated_at)
        VALUES ('${HOOK}', 'user_bench', 'bench', 'webhook', '{}', 'notify', '{}', 1, '[]', '', '')`,
      parameters: [],
    },
  ]);
  return store;
};

const keep = async (store: Store, headers: Headers, body: Buffer): Promise<string[]> => {
  const now = Date.now();
  const executionId = mint('execution', now);
  const [fired] = await store.call('acceptDelivery', [
    [
      mint('delivery', now),
      iso(now),
      'bench',
      'POST',
      JSON.stringify(headers),
      body.toString('utf8'),
      headers['x-github-event'] ?? null,
      null,
    ],
    [headers['x-github-delivery'] ?? '', createHash('sha256').update(body).digest('hex')],
    [[HOOK, executionId, false]],
  ]);
  return fired.map(() => executionId);
};

const answer = (response: ServerResponse, status: number, reply: object): void => {
  const text = JSON.stringify(reply);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
};

const headersOf = ({ headers }: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => !Array.isArray(entry[1])),
  );

const store = home === undefined ? null : await openBench(home);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const headers = headersOf(request);
    if (!verifySignature(key, body, headers, Date.now())) return answer(response, 401, {});
    if (!store) return answer(response, 202, { received: true, accepted: true });
    keep(store, headers, body).then(
      (executions) => answer(response, 202, { received: true, accepted: true, executions }),
      (error) => answer(response, 503, { message: String(error) }),
    );
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  console.log(`  listening http://127.0.0.1:${port}`);
});
process.once('SIGTERM', () => process.exit(0));
