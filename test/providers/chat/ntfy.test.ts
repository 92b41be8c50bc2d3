import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ntfy, parseTopicUrl } from '../../../src/providers/chat/ntfy.js';
import type { ChannelMessage, PlatformReach } from '../../../src/providers/chat/platform.js';
import { ACCESS_TOKEN, openNtfy, type Published, refuse, TOPIC } from '../../harness/ntfy.js';
import { reachOf } from './reach.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const render = (message: Partial<ChannelMessage>): Omit<Published, 'topic'>[] =>
  JSON.parse(JSON.stringify(ntfy.render({ title: null, text: '', ...message })));

describe('ntfy', () => {
  let server: Awaited<ReturnType<typeof openNtfy>>;
  let closed: Awaited<ReturnType<typeof openNtfy>>;
  let reach: ReturnType<typeof reachOf>;
  before(async () => {
    server = await openNtfy();
    closed = await openNtfy({ token: ACCESS_TOKEN });
    reach = reachOf({ baseUrl: server.baseUrl });
  });
  after(async () => {
    await reach.close();
    server.close();
    closed.close();
  });

  const send = async (message: Partial<ChannelMessage>, to = `${server.baseUrl}/${TOPIC}`) => {
    const [part = {}] = ntfy.render({ title: null, text: '', ...message });
    return ntfy.send(reach, to, part);
  };

  it('publishes to the topic, as it is, with the priority of its urgency', async () => {
    expect(await send({ title: 'Nightly *report*', text: '<b>Nothing</b> new' })).to.include({
      ...{ verdict: 'sent', receipt: 'hwQ2YpKdmg1' },
    });
    await send({ text: 'Somebody logged in', isUrgent: true });
    expect(server.published).to.equal([
      { topic: TOPIC, title: 'Nightly *report*', message: '<b>Nothing</b> new', priority: 3 },
      { topic: TOPIC, message: 'Somebody logged in', priority: 4 },
    ]);
  });

  it('gives a question no button, since a button would carry a right', () => {
    const question = { approvalId: 'approval_1', digest: 'a'.repeat(64) };
    const [part] = render({ title: 'May it?', text: 'time.now', question });
    expect(Object.keys(part ?? {}).sort()).to.equal(['message', 'priority', 'title']);
  });

  it('splits at 4,096 bytes and at what its JSON may have, and loses none', async () => {
    for (const text of ['"\n'.repeat(6_000), '🦊'.repeat(4_000), '\u0001'.repeat(3_000)]) {
      const parts = ntfy.render({ title: 'A title', text });
      for (const part of parts) {
        expect((await ntfy.send(reach, `${server.baseUrl}/${TOPIC}`, part)).verdict).to.equal(
          'sent',
        );
      }
      // The ends of lines at which the text is split are left out.
      const read = parts.map(({ message }) => message).join('\n');
      expect(read.replaceAll('\n', '')).to.equal(text.replaceAll('\n', ''));
    }
  });

  it('puts a title that is too long for one into the message', () => {
    const [part] = render({ title: 'word '.repeat(100), text: 'x' });
    expect([part?.title, part?.message]).to.equal([undefined, `${'word '.repeat(100).trim()}\nx`]);
    const [lines] = render({ title: 'a\nb', text: 'x' });
    expect(lines?.title).to.equal('a b');
  });

  it('keeps to the server of the topic, since another has another of that name', async () => {
    expect(await send({ text: 'hi' }, `https://ntfy.example.org/${TOPIC}`)).to.equal({
      verdict: 'failed',
      error:
        'The topic is on https://ntfy.example.org, which is not the configured server. Link the topic again',
    });
    expect((await send({ text: 'hi' }, `${server.baseUrl}/a/b`)).verdict).to.equal('failed');
    const base = 'https://ntfy.example.org';
    for (const given of [TOPIC, `${base}/${TOPIC}`, ` ${base}/${TOPIC}/ `]) {
      expect(parseTopicUrl(given, base)).to.equal(`${base}/${TOPIC}`);
    }
    for (const given of [
      '',
      'a b',
      'a/b',
      'x'.repeat(65),
      `https://ntfy.sh/${TOPIC}`,
      base,
      `${base}/`,
    ]) {
      expect(parseTopicUrl(given, base)).to.be.null();
    }
  });

  it('tells what to try again from what may have arrived', async () => {
    const outcome = async (answer: ReturnType<typeof refuse>) => {
      server.refuse(answer);
      return (await send({ text: 'hi' })).verdict;
    };
    expect(await outcome(refuse(429, 42901, 'limit reached: too many requests'))).to.equal('retry');
    expect(await outcome(refuse(403, 40301, 'forbidden'))).to.equal('failed');
    expect(await outcome(refuse(500, 50001, 'internal server error'))).to.equal('unknown');
    expect(await outcome((response) => void response.destroy())).to.equal('unknown');
  });

  it('checks the server, and who publishes there', async () => {
    const at = (baseUrl: string, secrets = {}): PlatformReach => ({
      ...reach,
      settings: { baseUrl, values: {}, secrets },
    });
    expect(await ntfy.check(at(server.baseUrl))).to.equal({
      ...{ ok: true, account: `${server.baseUrl}, without an account` },
    });
    expect(await ntfy.check(at(closed.baseUrl, { accessToken: ACCESS_TOKEN }))).to.equal({
      ...{ ok: true, account: `ada on ${closed.baseUrl}` },
    });
    expect(await ntfy.check(at(closed.baseUrl, { accessToken: 'tk_other' }))).to.equal({
      ...{ ok: false, error: 'ntfy returned 401: unauthorized' },
    });
    const to = `${closed.baseUrl}/${TOPIC}`;
    const part = { message: 'hi' };
    expect((await ntfy.send(at(closed.baseUrl), to, part)).verdict).to.equal('failed');
    const sent = ntfy.send(at(closed.baseUrl, { accessToken: ACCESS_TOKEN }), to, part);
    expect((await sent).verdict).to.equal('sent');
  });
});
