import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { addHook, registerOwner } from '../harness/account.js';
import { startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRET = 'a secret of the trace';
const COUNT = 1000;

/** strace may be missing, or not allowed to trace. */
const whyNot = (): string | null => {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'strace cannot be used here';
  }
};

const reason = whyNot();

describe('trace of system calls', () => {
  it(`shows each of ${COUNT} acknowledgements after the fsync of its delivery${reason ? ` (skipped: ${reason})` : ''}`, {
    skip: reason !== null,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-trace-'));
    const trace = join(home, 'trace');
    const calls = 'trace=pwrite64,fsync,fdatasync,write,writev';
    const under = ['strace', '-f', '--seccomp-bpf', '-y', '-s', '4200', '-e', calls, '-o', trace];
    const daemon = await startDaemon({ home, under });
    const owner = await registerOwner(daemon.url);
    const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    await addHook(owner, { name: 'trace', path: 'trace', secret: SECRET, ...action });
    let sent = 0;
    const send = async (): Promise<void> => {
      while (sent < COUNT) expect(await deliver(daemon.url, sent++)).to.equal(202);
    };
    await Promise.all(Array.from({ length: 10 }, send));
    await daemon.end('SIGTERM');
    const { after, before } = judge((await readFile(trace, 'latin1')).split('\n'));
    expect({ after, before }).to.equal({ after: COUNT, before: 0 });
    await rm(home, { recursive: true });
  });
});

const deliver = async (url: string, n: number): Promise<number> => {
  const body = JSON.stringify({ n });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const response = await fetch(`${url}/api/webhooks/trace`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  await response.arrayBuffer();
  return response.status;
};

/**
 * Reads the trace in order: what is written to the log, when an fsync of the log has returned, and
 * which deliveries the 202s that leave speak of. An id counts as durable once an fsync that began
 * after it was written has ended.
 */
const judge = (lines: string[]): { after: number; before: number } => {
  const written = new Set<string>();
  const syncing = new Map<string, Set<string>>();
  const durable = new Set<string>();
  const verdict = { after: 0, before: 0 };
  for (const line of lines) {
    const thread = line.split(' ', 1)[0] ?? '';
    const isLog = line.includes('adjutant.db-wal>');
    if (line.includes(' pwrite64(') && isLog) {
      for (const id of idsIn(line)) written.add(id);
    } else if (/ f(data)?sync\(/.test(line) && isLog) {
      syncing.set(thread, new Set(written));
      if (!line.includes('<unfinished')) settle(syncing, thread, durable);
    } else if (/<\.\.\. f(data)?sync resumed/.test(line)) {
      settle(syncing, thread, durable);
    } else if (line.includes('HTTP/1.1 202')) {
      for (const id of new Set(idsIn(line))) verdict[durable.has(id) ? 'after' : 'before']++;
    }
  }
  return verdict;
};

const idsIn = (line: string): string[] => line.match(/delivery_[0-9a-z]{26}/g) ?? [];

const settle = (syncing: Map<string, Set<string>>, thread: string, durable: Set<string>): void => {
  for (const id of syncing.get(thread) ?? []) durable.add(id);
  syncing.delete(thread);
};
