import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { randomFrom } from '../faults/random.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { writeEntries } from '../harness/chunks.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const WORDS = ['river', 'stone', 'server', 'invoice', 'garden', 'winter', 'train', 'letter'];
const OTHERS = 20_000;
const OWN = 10;

/** Many entries of others with the same words beside a few of one's own. */
describe('knowledge of others', () => {
  let app: TestApp;
  let ada: { id: string; token: string };
  let bob: { id: string; token: string };
  const random = randomFrom(11);
  const words = (count: number): string =>
    Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  before(async () => {
    app = await startApp();
    ada = await app.register('ada');
    bob = await app.register('bob');
    const chunk = (n: number): string => `adascanary${n} ${words(30)} 東京都庁の猫`;
    const entries = Array.from({ length: OTHERS / 500 }, (_, at) =>
      Array.from({ length: 500 }, (_, n) => chunk(at * 500 + n)),
    );
    await writeEntries(app, ada.id, entries);
    const own = Array.from({ length: OWN }, (_, n) => [
      `bobscanary${n} river 東京都庁 ${words(20)}`,
    ]);
    await writeEntries(app, bob.id, own);
    inside(app.app).knowledge.texts.changed();
    await until(
      async () => (await search(`bobscanary${OWN - 1}`, bob.token)).length,
      (found) => found === 1,
      100_000,
    );
  });
  after(() => app.stop());

  const search = async (query: string, token: string, more: object = {}) => {
    const body = { query, limit: 50, ...more };
    const reply = await app.call('POST', '/api/knowledge/search', { token, body });
    return reply.body.results ?? [];
  };

  it('keep none of one’s own out of the results', async () => {
    for (const query of [
      'river',
      'river stone server invoice garden',
      '東京',
      '"river"',
      'RIVERS',
    ]) {
      expect(await search(query, bob.token), query).to.have.length(OWN);
    }
    expect(await search('scanary', bob.token)).to.have.length(OWN);
    expect(await search('river', ada.token)).to.have.length(50);
  });

  it('change no order of one’s own results', async () => {
    const { texts } = inside(app.app).knowledge;
    const note = (userId: string, text: string) =>
      texts.index({
        ...{ userId, sourceType: 'note', sourceId: null, uri: null, tags: [] },
        ...{ title: 'n', trust: 'owner', text },
      });
    const carol = await app.register('carol');
    await note(carol.id, 'probe xylophone filler');
    await note(carol.id, 'probe quagmire filler');
    const order = async () =>
      (await search('xylophone quagmire', carol.token)).map(
        ({ snippet, score }: { snippet: string; score: number }) => [snippet, score],
      );
    const before = await order();
    expect(before).to.have.length(2);
    for (const word of ['xylophone', 'xylophone', 'quagmire', 'quagmire', 'quagmire', 'quagmire']) {
      await note(ada.id, `private ${word}`);
      expect(await order()).to.equal(before);
    }
  });

  it('are in none of many random searches', async () => {
    const pieces = [
      ...[...WORDS, 'adascanary1', 'adascanary', 'canary', '東京', '猫', '"river stone"', '-river'],
      ...['owner', ':', 'o1', 'o2', '"o1"', 'OR', 'NOT', '*', '(', ')', '|1|', 'bobscanary3'],
    ];
    for (let n = 0; n < 200; n++) {
      const count = 1 + Math.floor(random() * 5);
      const query = Array.from(
        { length: count },
        () => pieces[Math.floor(random() * pieces.length)],
      ).join(' ');
      const found = await search(query, bob.token);
      const text = JSON.stringify(found);
      expect(text.includes('adascanary'), query).to.be.false();
    }
    const { body } = await app.call('GET', '/api/knowledge/stats', { token: bob.token });
    expect([body.total, body.chunks]).to.equal([OWN, OWN]);
  });

  it('are not reached by their ids', async () => {
    const [theirs] = await search('adascanary7', ada.token);
    const filters = { entryIds: [theirs.entryId] };
    expect(await search('river', bob.token, { filters })).to.equal([]);
    const path = `/api/knowledge/${theirs.entryId}/chunks/${theirs.chunk}`;
    expect((await app.call('GET', path, { token: bob.token })).status).to.equal(404);
    expect((await app.call('GET', path, { token: ada.token })).status).to.equal(200);
  });
});
