import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../agents/stage.js';
import { type Desk, DONE, openDesk } from '../approvals/stage.js';
import { sign, until, untilMatches } from '../harness/app.js';
import { onPath, SECRET } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { says } from '../harness/openai.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
let note: string;
let page: string;

/** Has an agent make one call; returns what the model was told, and if the agent is untrusted. */
const calling = async (tool: string, args: object) => {
  desk.model.script(says({ toolCalls: [call(tool, { ...args }, 'one')] }), DONE);
  const { id } = await desk.spawn({ prompt: 'Look it up' });
  await desk.reaches(id);
  const { body } = await desk.ask('GET', `/api/agents/${id}`);
  return { told: desk.told().at(-1) ?? '', untrusted: body.untrusted };
};

before(async () => {
  desk = await openDesk();
  const { texts } = inside(desk.app).knowledge;
  const of = { userId: desk.userId, sourceId: null, tags: [] };
  ({ id: note } = await texts.index({
    ...of,
    ...{ sourceType: 'note', uri: null, title: 'Servers', trust: 'owner' },
    text: 'The staging server is argon.',
  }));
  ({ id: page } = await texts.index({
    ...of,
    ...{ sourceType: 'page', uri: 'https://example.org/a', title: 'A page', trust: 'outside' },
    text: [
      { number: 1, text: 'Nothing of note.' },
      { number: 2, text: 'The walrus sings.' },
    ],
  }));
});
after(() => desk.stop());

describe('knowledge.search', () => {
  it('returns what the owner wrote, and leaves the agent trusted', async () => {
    const { told, untrusted } = await calling('knowledge_search', { query: 'staging server' });
    expect(JSON.parse(told)).to.equal({
      results: [
        {
          ...{
            entryId: note,
            chunk: 0,
            title: 'Servers',
            sourceType: 'note',
            uri: null,
            page: null,
          },
          ...{ trust: 'owner', text: 'The staging server is argon.' },
        },
      ],
    });
    expect(untrusted).to.be.false();
  });

  it('taints the agent that finds what others wrote, and says where it is from', async () => {
    const { told, untrusted } = await calling('knowledge_search', { query: 'walrus' });
    const [found] = JSON.parse(told).results;
    expect(found).to.include({ entryId: page, uri: 'https://example.org/a', page: 2 });
    expect(found).to.include({ trust: 'outside', text: 'The walrus sings.\n\n' });
    expect(untrusted).to.be.true();
  });

  it('tells the agent if there is nothing to search for', async () => {
    const { told } = await calling('knowledge_search', { query: '-staging' });
    expect(told).to.contain(
      'query contains no word to search for. Add a word that does not begin with -',
    );
  });

  it('finds nothing of somebody else', async () => {
    const other = await desk.register('other');
    const { texts } = inside(desk.app).knowledge;
    await texts.index({
      ...{ userId: other.id, sourceType: 'note', sourceId: null, uri: null, tags: [] },
      ...{ title: 'Other', trust: 'owner', text: 'The canary is at home.' },
    });
    expect((await calling('knowledge_search', { query: 'canary' })).told).to.equal(
      '{"results":[]}',
    );
  });
});

describe('knowledge.read', () => {
  it('returns a chunk and taints by its trust', async () => {
    const own = await calling('knowledge_read', { entryId: note, chunk: 0 });
    expect(own.untrusted).to.be.false();
    expect(JSON.parse(own.told)).to.include({ title: 'Servers', chunks: 1, trust: 'owner' });
    const outside = await calling('knowledge_read', { entryId: page, chunk: 1 });
    expect([outside.untrusted, JSON.parse(outside.told).page]).to.equal([true, 2]);
    const none = await calling('knowledge_read', { entryId: page, chunk: 7 });
    expect(none.told).to.contain('No chunk 7');
  });
});

describe('knowledge.index', () => {
  it('keeps a text of a trusted agent as the owner’s', async () => {
    const { told } = await calling('knowledge_index', { text: 'The lynx sleeps.', tags: ['cats'] });
    const { entryId, trust } = JSON.parse(told);
    expect(trust).to.equal('owner');
    const entry = await until(
      async () => (await desk.ask('GET', `/api/knowledge/${entryId}`)).body,
      ({ status }) => status === 'ready',
    );
    expect(entry).to.include({ content: 'The lynx sleeps.', trust: 'owner', tags: ['cats'] });
  });

  it('takes a title that is empty or too long, as subjects of e-mails are', async () => {
    const titleOf = async (title: string): Promise<string> => {
      const { told } = await calling('knowledge_index', { text: 'The badger digs.', title });
      return (await desk.ask('GET', `/api/knowledge/${JSON.parse(told).entryId}`)).body.title;
    };
    expect(await titleOf(' ')).to.equal('The badger digs.');
    expect(await titleOf('x'.repeat(400))).to.equal('x'.repeat(300));
    const whole = await titleOf(`${'x'.repeat(299)}🦡🦡`);
    expect(whole)
      .to.startWith('x'.repeat(299))
      .and.to.not.match(/\p{Cs}/u);
  });

  it('keeps the title of a text that is empty, and nothing of nothing, as of an empty e-mail', async () => {
    const { told } = await calling('knowledge_index', { text: ' \n', title: 'The vole is late' });
    const { body } = await desk.ask('GET', `/api/knowledge/${JSON.parse(told).entryId}`);
    expect(body.title).to.equal('The vole is late');
    const nothing = await calling('knowledge_index', { text: '', title: ' ' });
    expect(JSON.parse(nothing.told)).to.equal({ entryId: null, trust: null });
  });

  it('keeps one note for a call that is made again after a kill', async () => {
    const { actions } = inside(desk.app).knowledge;
    const keep = (effectId: string) =>
      actions.index(desk.userId, {
        ...{ text: 'The otter swims.', agentId: null },
        ...{ executionId: 'execution_1', effectId },
      });
    const first = await keep('execution_1');
    const again = await keep('execution_1');
    const other = await keep('execution_2');
    expect(again).to.equal(first);
    expect(other.entryId).to.not.equal(first.entryId);
  });

  it('keeps that of an untrusted agent as from outside', async () => {
    const search = call('knowledge_search', { query: 'walrus' }, 'search');
    const index = call('knowledge_index', { text: 'The walrus told me.' }, 'index');
    desk.model.script(says({ toolCalls: [search] }), says({ toolCalls: [index] }), DONE);
    await desk.reaches((await desk.spawn({ prompt: 'Look it up and keep it' })).id);
    expect(desk.told().at(-1)).to.contain('"trust":"outside"');
  });
});

describe('an agent of a hook', () => {
  it('has the tools that read only if its hook gives it what is remembered', async () => {
    const toolsOf = async (path: string, memory: boolean): Promise<string[]> => {
      const body = {
        ...{ name: path, trigger: 'webhook', action: 'spawn_agent', ...onPath(path) },
        actionConfig: { agentPrompt: 'Look', ...(memory && { memory }) },
      };
      await desk.ask('POST', '/api/hooks', body);
      desk.model.script(DONE);
      const before = desk.model.asked.length;
      const headers = { 'x-hub-signature-256': sign(SECRET, '{}') };
      await desk.call('POST', `/api/webhooks/${path}`, { body: '{}', headers });
      await untilMatches(async () => desk.model.asked.length, before + 1);
      return (desk.model.asked.at(-1)?.body.tools ?? [])
        .map((tool) => String(Object(tool.function).name))
        .filter((name) => name.startsWith('knowledge_'));
    };
    expect(await toolsOf('without', false)).to.equal(['knowledge_index']);
    expect(await toolsOf('with', true)).to.equal([
      ...['knowledge_search', 'knowledge_read', 'knowledge_ask', 'knowledge_index'],
    ]);
  });
});
