import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Reply, until } from '../../harness/app.js';
import {
  type BrokenReply,
  type BrokenServer,
  openBrokenServer,
} from '../../harness/brokenserver.js';
import { openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SECOND = 1000;
const SLOWEST = Number.POSITIVE_INFINITY;
const MEGABYTE = 1024 ** 2;
const SLOW = '127.0.0.1: the reply took too long';
const CUT = '127.0.0.1: the connection was interrupted';
const NO_HTTP = '127.0.0.1: the reply is not valid HTTP';

interface Outcome {
  status: string;
  statusCode: number | null;
  response: string | null;
  error: string | null;
}

const failed = (error: string, said: Partial<Outcome> = {}): Outcome => ({
  ...{ status: 'queued', statusCode: null, response: null, error },
  ...said,
});
const took = (statusCode: number, response: string): Outcome => ({
  ...{ status: 'sent', statusCode, response, error: null },
});

const OUTCOMES: [BrokenReply, Outcome][] = [
  ['an endless head', failed('127.0.0.1: the reply is too large')],
  ['half a body', failed(CUT, { statusCode: 200, response: 'half of it' })],
  ['half of the chunks', failed(CUT, { statusCode: 200, response: 'hello' })],
  ['a broken chunk', failed(NO_HTTP, { statusCode: 200, response: 'hello' })],
  ['another protocol', failed(NO_HTTP)],
  ['nothing', failed(CUT)],
  ['hints first', took(200, 'ok')],
  ['no content', took(204, '')],
  ['a gigabyte', took(200, 'x'.repeat(1000))],
];

describe('an endpoint that answers with', () => {
  let stage: Stage;
  let rude: BrokenServer;
  before(async () => {
    stage = await openStage();
    rude = await openBrokenServer();
  });
  after(async () => {
    await stage.stop();
    rude.close();
  });

  /** What came of one event at each of the addresses, with how long that took. */
  const outcomesAt = async (urls: string[]) => {
    const ids: string[] = [];
    for (const url of urls) ids.push((await stage.webhook({ url })).id);
    await stage.fire();
    const tried = await Promise.all(ids.map(firstAttempt));
    for (const id of ids) await stage.ask('DELETE', `/api/webhooks/${id}`);
    return tried.map(({ status, nextAttemptAt, attempts: [{ at, durationMs, ...attempt }] }) => {
      const { statusCode, response, error } = attempt;
      const restMs = Date.parse(nextAttemptAt ?? at) - Date.parse(at);
      const outcome: Outcome = { status, statusCode, response, error };
      return { outcome, durationMs: Number(durationMs), restMs };
    });
  };
  const firstAttempt = (id: string): Promise<Reply['body']> =>
    until(
      async () => (await stage.deliveries(id))[0],
      (found) => found?.attempts.length > 0,
      30 * SECOND,
    );

  for (const [name, outcome] of OUTCOMES) {
    it(`${name} is on record with what it said`, async () => {
      const [tried] = await outcomesAt([rude.url(name)]);
      expect(tried?.outcome).to.equal(outcome);
      expect(tried?.durationMs ?? SLOWEST).to.be.below(5 * SECOND);
    });
  }

  it('more than is kept of it is not listened to', async () => {
    await outcomesAt([rude.url('a gigabyte')]);
    const written = await until(
      async () => rude.written.get('a gigabyte'),
      (bytes) => bytes !== undefined,
    );
    // What its own kernel takes from it is in there.
    expect(written ?? 0).to.be.below(64 * MEGABYTE);
  });

  it('no TLS, or at a name that does not resolve, is tried again', async () => {
    const plain = rude.url('another protocol').replace('http:', 'https:');
    const [tls, dns] = await outcomesAt([plain, 'http://nowhere.invalid/']);
    expect(tls?.outcome).to.equal(
      failed('127.0.0.1: a trusted TLS connection could not be established'),
    );
    expect(dns?.outcome).to.equal(failed('nowhere.invalid: the name does not resolve'));
  });

  it('a drop at a time is given up after 15 seconds, and holds up nobody', async () => {
    const names: BrokenReply[] = ['trickling head', 'trickling body', 'trickling refusal'];
    const good = await stage.webhook();
    const trickling = outcomesAt(names.map((name) => rude.url(name)));
    const [received] = await stage.target.got(1);
    const sent = await firstAttempt(good.id);
    expect(sent.webhookId).to.equal(received?.headers['webhook-id']);
    expect(Number(sent.attempts[0].durationMs)).to.be.below(5 * SECOND);
    const [head, body, refusal] = await trickling;
    expect(head?.outcome).to.equal(failed(SLOW));
    expect(body?.outcome).to.include({ status: 'queued', statusCode: 200, error: SLOW });
    expect(body?.outcome.response).to.match(/^x{10,80}$/);
    expect(refusal?.outcome).to.include({ statusCode: 503, error: '503 from the endpoint' });
    expect(refusal?.restMs ?? 0).to.be.at.least(7200 * SECOND);
    for (const one of [head, body, refusal]) {
      expect(one?.durationMs ?? 0).to.be.between(14 * SECOND, 20 * SECOND);
    }
  });
});
