import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { limitMs, watchLoop } from '../generated/block.js';
import { until } from '../harness/app.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`a mail server that lies${skipNote}`, () => {
  let stage: MailStage;
  let liar: FaultyImapServer;
  let accountId: string;
  let hookId: string;
  before(async () => {
    if (missing) return;
    stage = await openMailStage();
    liar = await startFaultyImap(stage.certificate);
    const imap = { host: 'localhost', port: liar.port, tls: 'implicit' };
    accountId = (await stage.account('lied', { imap, syncDays: 3650 })).body.id;
    const hook = await stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify' },
      actionConfig: { notifyMessage: '{{email.subject}}' },
    });
    hookId = hook.body.id;
  });
  after(async () => {
    liar?.close();
    await stage?.stop();
  });

  /** `passMs` pass at each look, for the pauses before further tries. */
  const processed = async ({ passMs = 0 } = {}) => {
    const since = '2026-01-01T00:00:00.000Z';
    const { body } = await stage.call('POST', '/api/email/process', { accountId, since });
    const ended = await until(
      async () => {
        stage.clock.forward(passMs);
        return (await stage.call('GET', `/api/operations/${body.id}`)).body;
      },
      ({ status }) => status !== 'queued' && status !== 'running',
    );
    return [ended.error, ended.result.processed];
  };
  const subjects = async (): Promise<string[]> => {
    const { body } = await stage.call('GET', `/api/hooks/${hookId}/executions`);
    return body.executions
      .map(
        (run: { triggerContext: { email: { subject: string } } }) =>
          run.triggerContext.email.subject,
      )
      .sort();
  };
  const message = (uid: number, subject: string, size = 100) => ({ uid, subject, size });

  it('has each of its messages processed once', IF_INSTALLED, async () => {
    liar.messages = [message(1, 'one'), message(2, 'two')];
    liar.uidNext = 3;
    expect(await processed()).to.equal([null, 2]);
    // It was restored: a UID is given again, and what had it has another one.
    liar.messages = [message(1, 'three', 70), message(2, 'two'), message(3, 'one')];
    liar.uidNext = 2;
    expect(await processed()).to.equal([null, 1]);
    liar.messages = [message(1, 'two'), message(2, 'three', 70), message(3, 'four', 60)];
    expect(await processed()).to.equal([null, 1]);
    liar.messages = [];
    expect(await processed()).to.equal([null, 0]);
    liar.messages = [message(7, 'two'), message(8, 'one')];
    expect(await processed()).to.equal([null, 0]);
    expect(await subjects()).to.equal(['four', 'one', 'three', 'two']);
  });

  it('holds up no message by another that it does not give', IF_INSTALLED, async () => {
    liar.messages = [message(11, 'five', 50), message(12, 'six', 60), message(13, 'seven', 70)];
    liar.refused = [12];
    expect(await processed()).to.equal([null, 2]);
    expect(await subjects())
      .to.include(['five', 'seven'])
      .and.not.include(['six']);
    liar.refused = [];
    expect(await processed()).to.equal([null, 1]);
    expect(await subjects()).to.include('six');
  });

  /** The most that may be computed in one turn of the event loop, in milliseconds. */
  const MAX_TURN_MS = 400;
  const ALL = '1:16777216';
  const MIB = 1024 * 1024;
  const cases: [string, string, () => Iterable<string>, string | null][] = [
    ['messages that vanish', 'uid search', () => Array(12).fill(`* VANISHED ${ALL}\r\n`), null],
    [
      ...(['a range of all there could be', 'uid search'] as const),
      () => ['* 16777216 EXISTS\r\n', `* ESEARCH (TAG "x") UID ALL ${ALL}\r\n`],
      'more than 250000 messages for one search',
    ],
    [
      ...(['too many numbers', 'uid search'] as const),
      () =>
        Array(4).fill(`* SEARCH ${Array.from({ length: 70_000 }, (_, n) => n + 1).join(' ')}\r\n`),
      'more than 250000 messages for one search',
    ],
    ['a line without an end', 'uid search', () => [`* SEARCH ${'1'.repeat(5 * MIB)}\r\n`], ''],
    [
      ...(['files that nobody asked for', 'uid fetch'] as const),
      function* () {
        const part = `{${MIB / 2}}\r\n${'x'.repeat(MIB / 2)}`;
        for (let n = 0; n < 400; n++) yield `* 1 FETCH (UID 21 BODY[${n}] ${part})\r\n`;
      },
      'more than 64 MiB for one command',
    ],
  ];
  for (const [what, command, lines, why] of cases) {
    it(`holds up nobody and fills no memory with ${what}`, IF_INSTALLED, async () => {
      liar.messages = [message(21, 'eight', 80)];
      liar.before = { [command]: lines };
      const before = process.memoryUsage().rss;
      const loop = watchLoop();
      const [error] = await processed({ passMs: why === '' ? 1000 : 0 });
      expect(loop.stop().turnMs).to.be.below(limitMs(MAX_TURN_MS));
      expect(process.memoryUsage().rss - before).to.be.below(400 * MIB);
      if (why === null) expect(error).to.be.null();
      else expect(error).to.contain(why === '' ? 'localhost' : `more data than allowed (${why})`);
      liar.before = {};
    });
  }
});
