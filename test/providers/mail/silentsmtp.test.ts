import { readFileSync } from 'node:fs';
import { createServer, type TLSSocket } from 'node:tls';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { outcomeOfAttempt } from '../../../src/email/sending/outcome.js';
import { MailFault } from '../../../src/providers/mail/fault.js';
import { openSmtp } from '../../../src/providers/mail/smtp.js';
import { frozenClock } from '../../harness/clock.js';
import { SILENCE_MS, watchSilence } from '../../harness/mail/silence.js';
import { trustAuthority } from '../../harness/mail/trust.js';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  opensslMissing,
} from '../../harness/tunnels/tls.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const missing = opensslMissing();
const said = missing ? ` (skipped: ${missing})` : '';
const IF_INSTALLED = { skip: missing !== null };

/** The answers of a server, by what it is told. */
const ANSWERS: [string, RegExp, string][] = [
  ['hello', /^EHLO/, '250-localhost\r\n250 AUTH PLAIN\r\n'],
  ['login', /^AUTH/, '235 ok\r\n'],
  ['sender', /^MAIL/, '250 ok\r\n'],
  ['recipient', /^RCPT/, '250 ok\r\n'],
  ['data', /^DATA/, '354 go on\r\n'],
  ['end', /^\.$/, '250 taken\r\n'],
];

/** Of a session until its message is sent. */
const PHASE_MS = 5 * 60_000;

interface SilentStage {
  stage: string;
  /** Called after half an answer. */
  halved?: (() => void) | undefined;
  /** Called where the server says nothing. */
  reached?: (() => void) | undefined;
}

/** Starts a server that says nothing any more from a stage on, or only half an answer. */
const startSilent = async (certificate: Certificate, { stage, halved, reached }: SilentStage) => {
  const sockets = new Set<TLSSocket>();
  const server = createServer(
    { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key) },
    (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (stage !== 'greeting') socket.write('220 localhost\r\n');
      socket.on('data', (data) => {
        for (const line of data.toString().split('\r\n')) {
          const [name, , answer = ''] = ANSWERS.find(([, told]) => told.test(line)) ?? [];
          if (name !== undefined && name !== stage) socket.write(answer);
          else if (name !== undefined && halved)
            socket.write(answer.replace(/^(\d+) /gm, '$1-'), halved);
          else if (name !== undefined) reached?.();
        }
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: typeof address === 'object' && address ? address.port : 0, close };
};

describe(`an SMTP server that says nothing any more${said}`, () => {
  let authority: Authority;
  let certificate: Certificate;
  let distrust: () => void;
  before(async () => {
    if (missing) return;
    authority = await makeAuthority();
    distrust = trustAuthority(authority.file);
    certificate = await authority.issue('mail');
  });
  after(async () => {
    distrust?.();
    await authority?.remove();
  });

  /** Sends to a server; resolves to what the message is then. */
  const outcomeAt = async (stage: string, isHalf = false) => {
    const clock = frozenClock();
    const halved = isHalf ? () => clock.forward(PHASE_MS) : undefined;
    const isEnd = stage === 'end';
    const silence = watchSilence();
    const reached = isEnd ? silence.pass : undefined;
    const { port, close } = await startSilent(certificate, { stage, halved, reached });
    const http = { addressesOf: async () => ['127.0.0.1'] };
    const server = { host: 'localhost', port, tls: 'implicit' as const };
    const login = { username: 'ada', password: 'x' };
    const { signal } = new AbortController();
    // A busy machine may take longer, which changes only what happens at the end.
    const short = isEnd ? { silenceMs: SILENCE_MS } : { silenceMs: 150, connectMs: 150 };
    const limits = isHalf || stage === 'never' ? {} : short;
    try {
      const session = await openSmtp(http, { server, login, signal, clock, ...limits });
      const envelope = { from: 'ada@example.test', to: ['bob@example.org'] };
      const replies = await session.send(envelope, Buffer.from('Subject: x\r\n\r\nx\r\n'));
      session.close();
      return outcomeOf({ replies });
    } catch (fault) {
      if (!(fault instanceof MailFault)) throw fault;
      return outcomeOf({ fault });
    } finally {
      silence.stop();
      close();
    }
  };
  const outcomeOf = (attempt: Parameters<typeof outcomeOfAttempt>[1]) => {
    const open = {
      address: 'bob@example.org',
      place: 'to',
      status: 'queued',
      reply: null,
    } as const;
    const { status, delayMs } = outcomeOfAttempt([open], attempt, 1);
    return [status, delayMs];
  };

  for (const stage of ['greeting', 'hello', 'login', 'sender', 'recipient', 'data']) {
    it(`is tried again where it hangs at the ${stage}`, IF_INSTALLED, async () => {
      expect(await outcomeAt(stage)).to.equal(['queued', 60_000]);
    });
  }

  for (const stage of ['hello', 'login', 'sender', 'recipient', 'data']) {
    it(`is tried again where the answer to the ${stage} never ends`, IF_INSTALLED, async () => {
      expect(await outcomeAt(stage, true)).to.equal(['queued', 60_000]);
    });
  }

  it('leaves a message unknown whose end it does not respond', IF_INSTALLED, async () => {
    expect(await outcomeAt('end')).to.equal(['unknown', null]);
    expect(await outcomeAt('never')).to.equal(['sent', null]);
  });
});
