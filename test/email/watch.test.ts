import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { FOLDER_WATCH_TIMES } from '../../src/email/watch/folderwatch.js';
import { QUARANTINE_STATEMENTS } from '../../src/store/thread/quarantinestatements.js';
import { frozenClock, until } from '../harness/app.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Before the arrival of the messages. */
const START = Date.UTC(2026, 0, 31);
const HOUR_MS = 3600 * 1000;
/** Within the pauses of the watcher. */
const STEP_MS = 500;
/** Commands that change nothing. The server sets no flag for a part that is peeked at. */
const HARMLESS =
  /^(CAPABILITY|NAMESPACE|ID|ENABLE|AUTHENTICATE|LOGIN|LIST|LSUB|EXAMINE|UID SEARCH|NOOP|IDLE|DONE|CLOSE|UNSELECT|LOGOUT)\b|^UID FETCH [^[]*(BODY\.PEEK\[[^\]]*\][^[]*)*$/i;

describe(`a watched mailbox${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let server: FaultyImapServer;
  let accountId: string;
  let hookId: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage({}, frozenClock(START));
    server = await startFaultyImap(stage.certificate);
    server.canIdle = true;
    const imap = { host: 'localhost', port: server.port, tls: 'implicit' };
    accountId = (await stage.account('watched', { imap })).body.id;
    const hook = await stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify', triggerConfig: { accountId } },
      actionConfig: { notifyMessage: '{{email.subject}}' },
    });
    hookId = hook.body.id;
    await stage.call('PATCH', `/api/email/accounts/${accountId}`, { watch: true });
  });
  after(async () => {
    await stage?.stop();
    server?.close();
  });

  const subjects = async (): Promise<string[]> => {
    const { body } = await stage.call('GET', `/api/hooks/${hookId}/executions`);
    return body.executions
      .map(
        (run: { triggerContext: { email: { subject: string } } }) =>
          run.triggerContext.email.subject,
      )
      .reverse();
  };
  /** Time passes until it fits. */
  const passes = <T>(look: () => Promise<T>, fits: (found: T) => boolean) =>
    until(async () => {
      stage.clock.forward(STEP_MS);
      return look();
    }, fits);
  const isIdle = () =>
    passes(
      async () => server.commands.at(-1),
      (last) => last === 'IDLE',
    );
  const arrives = (uid: number, subject: string, more: { arrival?: string } = {}) => {
    server.messages.push({ uid, subject, size: 50 + uid, ...more });
  };

  it('is processed as messages arrive', IF_OPENSSL, async () => {
    await isIdle();
    arrives(1, 'one');
    server.announce();
    await passes(subjects, (all) => all.length === 1);
    await isIdle();
    arrives(2, 'two');
    server.announce();
    await passes(subjects, (all) => all.length === 2);
    expect(await subjects()).to.equal(['one', 'two']);
  });

  it('is processed once after its connection was lost', IF_OPENSSL, async () => {
    await isIdle();
    arrives(3, 'three');
    server.breakOff();
    await passes(subjects, (all) => all.length === 3);
    await isIdle();
    // Lost while its messages are read.
    arrives(4, 'four');
    let isFirst = true;
    server.before = {
      'uid fetch': () => {
        if (isFirst) server.breakOff();
        isFirst = false;
        return [''];
      },
    };
    server.announce();
    await passes(subjects, (all) => all.length === 4);
    server.before = {};
    await isIdle();
    expect(await subjects()).to.equal(['one', 'two', 'three', 'four']);
  });

  it('is processed with pauses if its server reports news all the time', IF_OPENSSL, async () => {
    await isIdle();
    let exists = 200_000;
    const report = () => [`* ${++exists} EXISTS\r\n`];
    server.before = { 'uid search': report, 'uid fetch': report };
    let isPaused = false;
    void stage.clock.starting(2 * FOLDER_WATCH_TIMES.settleMs).then(() => {
      isPaused = true;
    });
    server.announce();
    await passes(
      async () => isPaused,
      (is) => is,
    );
    server.before = {};
    await isIdle();
  });

  it('is marked if its server does not respond to a list', IF_OPENSSL, async () => {
    const silent = await startFaultyImap(stage.certificate);
    const imap = { host: 'localhost', port: silent.port, tls: 'implicit' };
    const { id } = (await stage.account('silent', { imap })).body;
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    silent.before = {
      'uid search': async function* () {
        isAsked();
        yield await new Promise<string>(() => undefined);
      },
    };
    const listing = stage.call('GET', `/api/email/messages?accountId=${id}`);
    await asked;
    stage.clock.forward(20_000);
    expect((await listing).body.messages).to.equal([]);
    const { status, error } = (await stage.call('GET', `/api/email/accounts/${id}`)).body;
    expect([status, error]).to.equal(['failing', 'The server did not respond in time']);
    silent.close();
  });

  it('is read without a change at the server', IF_OPENSSL, async () => {
    const { messages } = (await stage.call('GET', `/api/email/messages?accountId=${accountId}`))
      .body;
    expect(messages.length).to.equal(4);
    const mail = await stage.call('GET', `/api/email/messages/${messages[0].id}`);
    expect([mail.status, mail.body.text, mail.body.problem]).to.equal([200, 'x', null]);
    await stage.call('GET', `/api/email/messages?accountId=${accountId}&q=needle`);
    expect(server.commands.filter((command) => /FETCH/.test(command))).to.not.be.empty();
    expect(server.commands.filter((command) => !HARMLESS.test(command))).to.equal([]);
  });

  it(
    'is left to the original by a restored copy, until it is watched there',
    IF_OPENSSL,
    async () => {
      stage.clock.forward(HOUR_MS);
      const at = new Date(stage.clock.now()).toISOString();
      const { store } = stage.app.app;
      const held = QUARANTINE_STATEMENTS.filter(
        ({ sql, until = Number.POSITIVE_INFINITY }) =>
          sql.startsWith('UPDATE mail_accounts') && until === Number.POSITIVE_INFINITY,
      );
      await store.transact(
        held.map(({ sql }) => ({ sql: sql.replace('@at', '?'), parameters: [at] })),
      );
      await stage.app.restart();
      server.commands.length = 0;
      arrives(5, 'of the original', { arrival: '31-Jan-2026 00:30:00 +0000' });
      stage.clock.forward(HOUR_MS);
      expect(
        (await stage.call('GET', `/api/email/accounts/${accountId}`)).body.watch,
      ).to.be.false();
      expect(server.commands).to.equal([]);

      await stage.call('PATCH', `/api/email/accounts/${accountId}`, { watch: true });
      arrives(6, 'six');
      await passes(subjects, (all) => all.length > 4);
      expect(await subjects()).to.equal(['one', 'two', 'three', 'four', 'six']);
    },
  );
});
