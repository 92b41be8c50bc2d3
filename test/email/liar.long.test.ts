import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { limitMs, watchLoop } from '../generated/block.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`a mail server that lies${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let liar: FaultyImapServer;
  let accountId: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    liar = await startFaultyImap(stage.certificate);
    const imap = { host: 'localhost', port: liar.port, tls: 'implicit' };
    accountId = (await stage.account('lied', { imap, syncDays: 3650 })).body.id;
    await stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify' },
      actionConfig: { notifyMessage: '{{email.subject}}' },
    });
  });
  after(async () => {
    liar?.close();
    await stage?.stop();
  });

  const processed = async (passMs = 0): Promise<[string | null, number]> => {
    const body = { accountId, since: '2026-01-01T00:00:00.000Z' };
    const { error, result } = await stage.processed(body, { passMs });
    return [error, result.processed];
  };
  const message = (uid: number, subject: string, size = 100) => ({ uid, subject, size });

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
    it(`holds up nobody and fills no memory with ${what}`, IF_OPENSSL, async () => {
      liar.messages = [message(21, 'eight', 80)];
      liar.before = { [command]: lines };
      const before = process.memoryUsage().rss;
      const loop = watchLoop();
      const [error] = await processed(why === '' ? 1000 : 0);
      expect(loop.stop().turnMs).to.be.below(limitMs(MAX_TURN_MS));
      expect(process.memoryUsage().rss - before).to.be.below(400 * MIB);
      if (why === null) expect(error).to.be.null();
      else expect(error).to.contain(why === '' ? 'localhost' : `more data than allowed (${why})`);
      liar.before = {};
    });
  }
});
