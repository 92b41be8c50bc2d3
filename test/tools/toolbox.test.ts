import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ToolGroup } from '../../src/tools/tool.js';
import { builtInGroups, createToolbox, functionName } from '../../src/tools/toolbox.js';
import { frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

const USER = 'user_1';

describe('createToolbox', () => {
  let more: ToolGroup[] = [];
  const builtIn = builtInGroups({
    http: {
      request: async () => {
        throw new Error('nothing is asked for here');
      },
    },
    search: { provider: null, search: async () => [] },
    confinement: null,
    handlers: {
      notify: async () => true,
      delegate: () => Promise.reject(new Error('not here')),
      research: {
        start: () => Promise.reject(new Error('not here')),
        read: async () => null,
      },
      tasks: {
        list: async () => [],
        create: () => Promise.reject(new Error('not here')),
        update: () => Promise.reject(new Error('not here')),
        complete: () => Promise.reject(new Error('not here')),
      },
      email: {
        search: async () => [],
        read: () => Promise.reject(new Error('not here')),
        draft: () => Promise.reject(new Error('not here')),
        send: () => Promise.reject(new Error('not here')),
        describe: async () => [],
      },
    },
    memories: {
      save: async () => null,
      search: async () => [],
      forget: async () => false,
    },
    documents: {
      list: async () => [],
      read: async () => null,
      readPage: () => Promise.reject(new Error('not here')),
    },
    knowledge: {
      search: async () => [],
      read: async () => null,
      ask: () => Promise.reject(new Error('not here')),
      index: async () => ({ entryId: '', trust: 'owner' }),
    },
    clock: frozenClock(0),
  });
  const toolbox = createToolbox(builtIn, () => more);
  const nameOf = (tool: { skillId: string; name: string } | null) =>
    tool && `${tool.skillId}.${tool.name}`;

  it('lists the built-in groups and tools, those that cannot run included', () => {
    expect(toolbox.groups().map((group) => group.skillId)).to.equal([
      'http',
      'web',
      'time',
      'notify',
      'memory',
      'documents',
      'knowledge',
      'research',
      'tasks',
      'email',
      'agents',
      'files',
      'shell',
    ]);
    expect(toolbox.of(USER).list().map(nameOf)).to.equal([
      'http.request',
      'web.read',
      'web.search',
      'time.now',
      'notify.send',
      'memory.save',
      'memory.search',
      'memory.forget',
      'documents.list',
      'documents.read',
      ...['knowledge.search', 'knowledge.read', 'knowledge.ask', 'knowledge.index'],
      'research.start',
      'research.read',
      ...['tasks.list', 'tasks.create', 'tasks.update', 'tasks.complete'],
      ...['email.search', 'email.read', 'email.draft', 'email.send'],
      'agents.delegate',
      ...['files.read', 'files.write', 'files.list', 'files.search'],
      'shell.run',
    ]);
    const off = toolbox
      .of(USER)
      .list()
      .filter((tool) => tool.unavailable);
    expect(off.map(nameOf)).to.equal(['web.search', 'shell.run']);
  });

  it('finds a tool by skill and name, exactly', () => {
    const found = [
      toolbox.of(USER).find('http', 'request'),
      toolbox.of(USER).find('http', 'now'),
      toolbox.of(USER).find('__proto__', 'constructor'),
    ];
    expect(found.map(nameOf)).to.equal(['http.request', null, null]);
  });

  it('translates to the names that models use', () => {
    expect(functionName({ skillId: 'http', name: 'request' })).to.equal('http_request');
    expect(functionName({ skillId: 'my server', name: 'do/it' })).to.equal('my_server_do_it');
    expect(functionName({ skillId: 's', name: 'x'.repeat(99) })).to.have.length(64);
  });

  it('describes every tool by an object that takes nothing unknown', () => {
    const schemas = toolbox
      .of(USER)
      .list()
      .map((tool) => tool.inputSchema);
    expect(schemas.map((schema) => [schema.type, schema.additionalProperties])).to.equal(
      Array(schemas.length).fill(['object', false]),
    );
  });

  it('keeps of two tools that a model could not tell apart the first', () => {
    const time = builtIn.filter(({ skillId }) => skillId === 'time');
    const [first, second] = createToolbox([...time, ...time], () => [])
      .of(USER)
      .list();
    expect(first?.unavailable).to.be.null();
    expect(second?.unavailable).to.equal('Its function name is already used by time.now');
  });

  it('shows the tools of an organization to the organization alone', () => {
    const tools = builtIn.filter(({ skillId }) => skillId === 'time').flatMap((of) => of.tools);
    const group = (skillId: string, orgId?: string) => ({
      ...{ skillId, description: '', ...(orgId && { orgId }) },
      tools: tools.map((tool) => ({ ...tool, skillId })),
    });
    // All have the same function names, and must not take them from each other.
    const own = createToolbox([], () => [group('a.x', 'org_1'), group('a/x', 'org_2'), group('b')]);
    const seenBy = (userId: string) => own.of(userId).list().map(nameOf);
    expect(seenBy('org_1')).to.equal(['b.now', 'a.x.now']);
    expect(seenBy('org_2')).to.equal(['b.now', 'a/x.now']);
    expect(seenBy(USER)).to.equal(['b.now']);
    expect(own.of('org_2').find('a.x', 'now')).to.be.null();
    expect(own.of('org_2').find('a/x', 'now')?.unavailable).to.be.null();
    const later = createToolbox([], () => [group('a.x', 'org_1'), group('a/x')]);
    expect(later.of('org_1').find('a/x', 'now')?.unavailable).to.be.null();
    expect(later.of('org_1').find('a.x', 'now')?.unavailable).to.contain('a/x.now');
  });

  it('has the groups that come and go', () => {
    const [time] = builtIn.filter(({ skillId }) => skillId === 'time');
    more = [
      {
        skillId: 'more',
        description: '',
        tools: (time?.tools ?? []).map((tool) => ({ ...tool, skillId: 'more' })),
      },
    ];
    expect(nameOf(toolbox.of(USER).find('more', 'now'))).to.equal('more.now');
    more = [];
    expect(toolbox.of(USER).find('more', 'now')).to.be.null();
  });
});
