import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { randomFrom } from '../faults/random.js';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type Dovecot, MAILBOX, startDovecot } from '../harness/mail/dovecot.js';
import { mailOfKind } from '../harness/mail/kinds.js';
import { makeAuthority } from '../harness/tunnels/tls.js';
import { missing, skipNote } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

type Owner = Awaited<ReturnType<typeof registerOwner>>;

const ROUNDS = 10;
const EACH = 200;

/** A subject begins with the number of its message. */
const NUMBER_OF = (text: string): string => `substr(${text}, 1, instr(${text}, ' '))`;
const SUBJECT = "context ->> '$.email.subject'";

/** How often each message is there: as a run of either hook, and as a text that is indexed. */
const countsIn = (home: string): { runs: number[]; indexed: number[] } => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  const counts = (query: string) => db.prepare<[], number>(query).pluck().all();
  const found = {
    runs: counts(
      `SELECT count(*) FROM executions WHERE "trigger" = 'email' AND status = 'success'
       GROUP BY hook_id, ${NUMBER_OF(SUBJECT)}`,
    ),
    indexed: counts(
      `SELECT count(*) FROM knowledge_entries WHERE status = 'ready' GROUP BY ${NUMBER_OF('title')}`,
    ),
  };
  db.close();
  return found;
};

const lengthsIn = (home: string): number[] =>
  Object.values(countsIn(home)).map((all) => all.length);
/** Each message has a run of either hook, and is indexed. */
const ALL = [2 * ROUNDS * EACH, ROUNDS * EACH];

const filesOf = async (dovecot: Dovecot): Promise<{ unread: string[]; read: string[] }> => {
  const place = dovecot.maildir('once');
  return { unread: await readdir(join(place, 'new')), read: await readdir(join(place, 'cur')) };
};

/** Adds the account and the hook of an owner whose messages are processed. */
const prepare = async (owner: Owner, dovecot: Dovecot): Promise<void> => {
  const { id: credentialId } = await owner.vault.create({
    body: { name: 'mailbox', value: MAILBOX },
  });
  const server = { host: 'localhost', port: dovecot.ports.implicit, tls: 'implicit' as const };
  const address = 'once@example.test';
  await owner.mailaccounts.create({ body: { address, credentialId, imap: server, smtp: server } });
  const hook = { trigger: 'email', action: 'execute_tool' } as const;
  await owner.hooks.create({
    body: { name: 'mail', ...hook, actionConfig: { toolId: 'time', toolAction: 'now' } },
  });
  const toolParams = { title: '{{email.subject}}', text: '{{email.subject}} {{email.text}}' };
  await owner.hooks.create({
    body: {
      ...{ name: 'index', ...hook },
      actionConfig: { toolId: 'knowledge', toolAction: 'index', toolParams },
    },
  });
};

/**
 * Has messages processed that come in rounds. In each the daemon is killed and the mail server started
 * anew, both at random moments.
 */
const disturbed = async (
  home: string,
  dovecot: Dovecot,
  start: () => Promise<Daemon>,
  random: () => number,
): Promise<void> => {
  let daemon = await start();
  try {
    const owner = await registerOwner(daemon.url);
    const client = () => owner.with({ url: daemon.url });
    await prepare(owner, dovecot);
    const process = async () => {
      const { id } = await client().mailprocessing.process({ body: {} });
      return () => client().operations.get({ id });
    };
    for (let round = 0; round < ROUNDS; round++) {
      for (let n = round * EACH; n < (round + 1) * EACH; n++) {
        await dovecot.deliver('once', mailOfKind(n));
      }
      await process();
      await wait(random() * 700);
      await daemon.end('SIGKILL');
      daemon = await start();
      await wait(random() * 700);
      await dovecot.restart();
    }
    const isOver = ({ status }: { status: string }) => !['queued', 'running'].includes(status);
    const { status } = await until(await process(), isOver);
    expect(status).to.equal('completed');
    await until(
      async () => lengthsIn(home),
      (lengths) => lengths.join() === ALL.join(),
      200_000,
    );
  } finally {
    await daemon.end('SIGKILL');
  }
};

const IF_INSTALLED = { skip: missing !== null };

describe(`2,000 e-mails of every kind${skipNote}`, () => {
  it(
    'are processed and indexed once each, while daemon and mail server are ended ten times',
    IF_INSTALLED,
    async () => {
      const home = await mkdtemp(join(tmpdir(), 'adjutant-once-'));
      const authority = await makeAuthority();
      const dovecot = await startDovecot({ certificate: await authority.issue('mail') });
      const env = {
        ADJUTANT_EGRESS_ALLOW: 'localhost,127.0.0.1',
        NODE_EXTRA_CA_CERTS: authority.file,
      };
      try {
        await disturbed(home, dovecot, () => startDaemon({ home, env }), randomFrom(20));
        expect(lengthsIn(home)).to.equal(ALL);
        const { runs, indexed } = countsIn(home);
        expect([...runs, ...indexed].filter((count) => count !== 1)).to.equal([]);
        const { unread, read } = await filesOf(dovecot);
        expect([unread.length, read]).to.equal([ROUNDS * EACH, []]);
      } finally {
        await dovecot.stop();
        await authority.remove();
        await rm(home, { recursive: true, force: true });
      }
    },
  );
});
