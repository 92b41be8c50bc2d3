import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { endedOf, readLedger } from './ledger.js';
import { isAcknowledged } from './senders.js';
import { startSink } from './sink.js';
import { addHooks, PATHS, SECRET } from './slaughter.js';

export const lab = Lab.script();
const { describe, it } = lab;

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const KILLED = ['--import', at('./killplace.js'), at('../harness/serve.js')];
/** The commits of a start and of five deliveries with their runs, and the replies to these. */
const PLACES = [
  ...[1, 2, 3, 5, 8, 13].flatMap((n) => [`before-commit:${n}`, `after-commit:${n}`]),
  ...[1, 3, 5].map((n) => `before-reply:${n}`),
];

describe('a daemon that is killed at a place', () => {
  it('loses nothing acknowledged and repeats nothing that ended', {
    timeout: 180_000,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-places-'));
    const sink = await startSink();
    const env = { ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${sink.port}` };
    const acknowledged: string[] = [];
    let sent = 0;
    const send = async ({ url }: Daemon, path: string): Promise<void> => {
      const body = JSON.stringify({ action: 'opened', n: sent });
      const response = await fetch(`${url}/api/webhooks/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'issues',
          'x-github-delivery': `place-${sent++}`,
          'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
        },
        body,
      });
      const answer: unknown = await response.json();
      if (response.status === 202 && isAcknowledged(answer))
        acknowledged.push(...answer.executions);
    };
    const isIdle = () =>
      until(
        async () => readLedger(home).jobs,
        (jobs) => jobs === 0,
      );

    let daemon = await startDaemon({ home, env });
    try {
      await addHooks(daemon, sink.port);
      await daemon.end('SIGTERM');
      const seen = new Map<string, { end: string; effects: number }>();
      const killed: string[] = [];
      for (const place of PLACES) {
        const life = await startDaemon({
          home,
          env: { ...env, KILL_AT: place },
          entry: KILLED,
        }).catch(() => null);
        if (life) {
          for (const path of PATHS) await send(life, path).catch(() => undefined);
          await Promise.race([life.ended, isIdle()]);
          await life.end('SIGKILL');
        }
        killed.push(place);
        for (const [id, end] of endedOf(readLedger(home))) {
          if (!seen.has(id)) seen.set(id, { end, effects: sink.effects.get(id) ?? 0 });
        }
      }
      daemon = await startDaemon({ home, env });
      await isIdle();
      const ledger = readLedger(home);
      const ended = endedOf(ledger);
      expect({
        places: killed.length,
        lost: acknowledged.filter((id) => !ledger.executions.has(id)),
        stuck: [...ledger.executions.keys()].filter((id) => !ended.has(id)),
        changed: [...seen].filter(([id, { end }]) => ended.get(id) !== end),
        repeated: [...seen].filter(([id, { effects }]) => (sink.effects.get(id) ?? 0) !== effects),
        unfinished: ledger.unfinished,
        doubled: ledger.doubled,
        integrity: ledger.integrity,
      }).to.equal({
        ...{ places: PLACES.length, lost: [], stuck: [], changed: [], repeated: [] },
        ...{ unfinished: 0, doubled: 0, integrity: 'ok' },
      });
      expect(acknowledged.length).to.be.above(PLACES.length);
    } finally {
      await daemon.end('SIGKILL');
      sink.close();
      await rm(home, { recursive: true });
    }
  });
});
