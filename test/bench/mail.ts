import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { type Owner, registerOwner } from '../harness/account.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type Dovecot, dovecotMissing, MAILBOX, startDovecot } from '../harness/mail/dovecot.js';
import { makeAuthority } from '../harness/tunnels/tls.js';
import { median } from './load.js';
import { untilCompleted } from './operations.js';
import { timed } from './threads.js';

const MESSAGES = 1000;
/** The beginning of each message, which is read for its first words. */
const BEGINNING = 2048;

export interface MailFigures {
  /** A fetch of all headers and beginnings by an IMAP client, and nothing else. */
  bareMs: number;
  /** From the request until all are processed: kept, sorted, and each with a run of a hook. */
  processMs: number;
  /** The median of the ratios of each round. */
  ratio: number;
  /** The processor time of the daemon for each message. */
  cpuMs: number;
}

/**
 * Measures the processing of 1,000 new messages of a mailbox, beside a client that fetches the same from
 * the same server, in turns. Resolves to null where Dovecot does not run.
 */
export const measureMail = async (rounds: number): Promise<MailFigures | null> => {
  if (dovecotMissing() !== null) return null;
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const authority = await makeAuthority();
  const dovecot = await startDovecot({ certificate: await authority.issue('mail') });
  const env = {
    ADJUTANT_EGRESS_ALLOW: 'localhost,127.0.0.1',
    NODE_EXTRA_CA_CERTS: authority.file,
  };
  const daemon = await startDaemon({ home, env });
  const owner = await registerOwner(daemon.url);
  const { id: credentialId } = await owner.vault.create({
    body: { name: 'mailbox', value: MAILBOX },
  });
  await owner.hooks.create({
    body: {
      ...{ name: 'mail', trigger: 'email', action: 'execute_tool' },
      actionConfig: { toolId: 'time', toolAction: 'now' },
    },
  });
  const turns: { bareMs: number; processMs: number; cpuMs: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const user = `round${round}`;
    const account = await addAccount(owner, dovecot, { user, credentialId });
    for (let n = 0; n < MESSAGES; n++) await dovecot.deliver(user, messageOf(n));
    const bareMs = await fetchPlainly(dovecot, user);
    turns.push({ bareMs, ...(await processed(daemon, owner, account)) });
  }
  await daemon.end('SIGTERM');
  await dovecot.stop();
  await authority.remove();
  await rm(home, { recursive: true, force: true });
  return {
    bareMs: median(turns.map(({ bareMs }) => bareMs)),
    processMs: median(turns.map(({ processMs }) => processMs)),
    ratio: median(turns.map(({ bareMs, processMs }) => processMs / bareMs)),
    cpuMs: median(turns.map(({ cpuMs }) => cpuMs)),
  };
};

/** A message of a person, as long as most are. */
const messageOf = (n: number): string =>
  [
    'From: Bob <bob@example.org>',
    'To: Ada <ada@example.test>',
    `Subject: Number ${n}`,
    `Message-ID: <number-${n}@example.org>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `What was said of number ${n}.\r\n`.repeat(60),
  ].join('\r\n');

const addAccount = async (
  owner: Owner,
  { ports }: Dovecot,
  { user, credentialId }: { user: string; credentialId: string },
): Promise<string> => {
  const server = { host: 'localhost', port: ports.implicit, tls: 'implicit' as const };
  const address = `${user}@example.test`;
  const body = { address, credentialId, imap: server, smtp: server };
  return (await owner.mailaccounts.create({ body })).id;
};

/** Fetches what the daemon does of each message, by the same library. */
const fetchPlainly = async ({ ports }: Dovecot, user: string): Promise<number> => {
  const client = new ImapFlow({
    ...{ host: 'localhost', port: ports.implicit, secure: true, logger: false },
    auth: { user: `${user}@example.test`, pass: MAILBOX },
    // It measures; nothing of it is trusted.
    tls: { rejectUnauthorized: false },
  });
  const since = performance.now();
  await client.connect();
  await client.mailboxOpen('INBOX', { readOnly: true });
  const query = {
    ...{ uid: true, flags: true, size: true, internalDate: true, envelope: true },
    ...{ bodyStructure: true, headers: true },
    bodyParts: [{ key: '1', start: 0, maxLength: BEGINNING }],
  };
  const all = await client.fetchAll('1:*', query);
  await client.logout();
  if (all.length !== MESSAGES) throw new Error(`${all.length} messages came of ${MESSAGES}`);
  return performance.now() - since;
};

const processed = async (
  daemon: Daemon,
  owner: Owner,
  accountId: string,
): Promise<{ processMs: number; cpuMs: number }> => {
  const { ms, cpuMs } = await timed(daemon, async () => {
    const { id } = await owner.mailprocessing.process({ body: { accountId } });
    await untilCompleted(owner, id);
  });
  return { processMs: ms, cpuMs: cpuMs / MESSAGES };
};
