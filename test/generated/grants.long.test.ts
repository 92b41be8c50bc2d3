import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { endpoints } from '../harness/api.js';
import { type Reply, startApp, type TestApp } from '../harness/app.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const CODE = 'approval_right_missing';
const DIGEST = '0'.repeat(64);

interface Call {
  method: string;
  path: string;
  body: object;
}

interface Place {
  /** What it makes ready, as the person. */
  ready?(person: As): Promise<string>;
  call(id: string): Call;
  /** What is named where it is refused; null: it grants nothing that acts. */
  names: string | null;
  /** What the person gets. */
  status: number;
  isAdmins?: true;
}

type As = (call: Call) => Promise<Reply>;

const spawn = (tools: string[]): Place['call'] => {
  return () => ({ method: 'POST', path: '/api/agents', body: { prompt: 'Work', tools } });
};
const hook = (actionConfig: object, action = 'spawn_agent') => ({
  name: 'probe',
  trigger: 'webhook',
  triggerConfig: { webhookPath: 'probe' },
  action,
  actionConfig: { agentPrompt: 'Work', notifyMessage: 'Well', ...actionConfig },
});
const create = (actionConfig: object, action?: string): Place['call'] => {
  return () => ({ method: 'POST', path: '/api/hooks', body: hook(actionConfig, action) });
};
const made = (actionConfig: object, action?: string) => async (person: As) => {
  const { body } = await person(create(actionConfig, action)(''));
  return body.id;
};
const update = (body: object): Place['call'] => {
  return (id) => ({ method: 'PUT', path: `/api/hooks/${id}`, body });
};
const recurring = (actionConfig: object): Call => ({
  method: 'POST',
  path: '/api/recurring-tasks',
  body: { title: 'probe', schedule: { cron: '0 9 * * 1' }, action: 'spawn_agent', actionConfig },
});
const level = (skillId: string, action: string, level: string, more = {}): Call => ({
  method: 'PUT',
  path: '/api/skills/permissions',
  body: { skillId, action, level, ...more },
});
const set = (...given: Parameters<typeof level>): Place['call'] => {
  return () => level(...given);
};
const reset = (skillId: string, action: string): Place['call'] => {
  const path = `/api/skills/permissions/${skillId}/${action}`;
  return () => ({ method: 'DELETE', path, body: {} });
};
const levels =
  (...calls: Call[]) =>
  async (person: As) => {
    for (const call of calls) await person(call);
    return '';
  };
const shell = { toolId: 'shell', toolAction: 'run', toolParams: { argv: ['id'] } };
const SECRET = {
  triggerConfig: { webhookPath: 'probe', webhookSecret: 'only for this test' },
};
const CONDITIONS = [
  { field: 'webhook.body.sender', operator: 'equals', value: 'ada' },
  { field: 'webhook.body.action', operator: 'in', value: ['opened', 'closed'] },
];
const besides = (more: object) => async (person: As) => {
  const body = { ...hook(shell, 'execute_tool'), ...more };
  return (await person({ method: 'POST', path: '/api/hooks', body })).body.id;
};
const scheduled = (cron: string) => besides({ trigger: 'schedule', triggerConfig: { cron } });
const conditioned = besides({ conditions: CONDITIONS });
const soon = () => new Date(Date.now() + 3_600_000).toISOString();

/** Every place where somebody can be given a tool, and some beside it that give none. */
const PLACES: Record<string, Place> = {
  'an agent with tools': {
    call: spawn(['shell', 'http']),
    names: 'shell.run, http.request',
    status: 201,
  },
  'an agent with a tool that sends out': {
    call: spawn(['web.read']),
    names: 'web.read',
    status: 201,
  },
  'an agent with harmless tools': { call: spawn(['time', 'files.read']), names: null, status: 201 },
  'an agent without tools': { call: spawn([]), names: null, status: 201 },
  'a hook whose agent has tools': {
    call: create({ agentTools: ['http.request', 'time.now'] }),
    names: 'http.request',
    status: 201,
  },
  'a hook whose agent may be a command-line tool': {
    call: create({ agentTools: ['cli:claude'] }),
    names: 'cli:claude',
    status: 201,
  },
  'a recurring task whose agent has tools': {
    call: () => recurring({ agentPrompt: 'Work', agentTools: ['http.request', 'time.now'] }),
    names: 'http.request',
    status: 201,
  },
  'a hook whose agent has harmless tools': {
    call: create({ agentTools: ['time'] }),
    names: null,
    status: 201,
  },
  'a hook that makes the call': {
    call: create(shell, 'execute_tool'),
    names: 'shell.run',
    status: 201,
  },
  'a hook that calls what is not there yet': {
    call: create({ toolId: 'later', toolAction: 'on' }, 'execute_tool'),
    names: 'later.on',
    status: 201,
  },
  'a hook that asks for the time': {
    call: create({ toolId: 'time', toolAction: 'now' }, 'execute_tool'),
    names: null,
    status: 201,
  },
  'a hook that is given one tool more': {
    ready: made({ agentTools: ['web.read'] }),
    call: update({ actionConfig: { agentPrompt: 'Work', agentTools: ['web.read', 'shell'] } }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that keeps its tools': {
    ready: made({ agentTools: ['web', 'shell'] }),
    call: update({ actionConfig: { agentPrompt: 'Work', agentTools: ['web.read', 'shell'] } }),
    names: null,
    status: 200,
  },
  'a hook that loses one of its tools': {
    ready: made({ agentTools: ['web.read', 'shell'] }),
    call: update({ actionConfig: { agentPrompt: 'Work', agentTools: ['shell'] } }),
    names: null,
    status: 200,
  },
  'a hook whose agent has another prompt': {
    ready: made({ agentTools: ['time', 'http', 'shell'] }),
    call: update({ actionConfig: { agentPrompt: 'More', agentTools: ['time', 'http', 'shell'] } }),
    names: 'http.request, shell.run',
    status: 200,
  },
  'a hook whose agent has another model': {
    ready: made({ agentTools: ['http'] }),
    call: update({
      actionConfig: { agentPrompt: 'Work', agentTools: ['http'], agentModel: 'digest' },
    }),
    names: 'http.request',
    status: 200,
  },
  'a hook whose agent, with harmless tools, has another prompt': {
    ready: made({ agentTools: ['time'] }),
    call: update({ actionConfig: { agentPrompt: 'More', agentTools: ['time'] } }),
    names: null,
    status: 200,
  },
  'a hook that is sent back as it was, under another name': {
    ready: besides(SECRET),
    call: update({ ...hook(shell, 'execute_tool'), ...SECRET, name: 'other', description: 'x' }),
    names: null,
    status: 200,
  },
  'a hook that has another path': {
    ready: made(shell, 'execute_tool'),
    call: update({ triggerConfig: { webhookPath: 'elsewhere' } }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that has another secret': {
    ready: made({ agentTools: ['http'] }),
    call: update({ triggerConfig: { webhookPath: 'probe', webhookSecret: 'another' } }),
    names: 'http.request',
    status: 200,
  },
  'a hook that is fired by something else': {
    ready: made(shell, 'execute_tool'),
    call: update({ trigger: 'agent_completed', triggerConfig: {} }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that is fired at other times': {
    ready: scheduled('0 0 1 1 *'),
    call: update({ triggerConfig: { cron: '* * * * *' } }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that is fired at the same times': {
    ready: scheduled('0 0 1 1 *'),
    call: update({ triggerConfig: { cron: '0 0 1 1 *' } }),
    names: null,
    status: 200,
  },
  'a hook that has one condition less': {
    ready: conditioned,
    call: update({ conditions: [CONDITIONS[0]] }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that has one condition more': {
    ready: conditioned,
    call: update({ conditions: [{ field: 'event', operator: 'exists' }, ...CONDITIONS] }),
    names: null,
    status: 200,
  },
  'a hook that is renamed': {
    ready: made(shell, 'execute_tool'),
    call: update({ name: 'other' }),
    names: null,
    status: 200,
  },
  'a hook that makes another call': {
    ready: made(shell, 'execute_tool'),
    call: update({ actionConfig: { ...shell, toolParams: { argv: ['env'] } } }),
    names: 'shell.run',
    status: 200,
  },
  'a hook whose idle tools come into force': {
    ready: made({ agentTools: ['shell'] }, 'notify'),
    call: update({ action: 'spawn_agent' }),
    names: 'shell.run',
    status: 200,
  },
  'a hook that is enabled again': {
    ready: async (person) => {
      const id = await made(shell, 'execute_tool')(person);
      await person(update({ enabled: false })(id));
      return id;
    },
    call: (id) => ({ method: 'POST', path: `/api/hooks/${id}/enable`, body: {} }),
    names: null,
    status: 200,
  },
  'a level for a tool': {
    call: set('http', 'request', 'allow'),
    names: 'http.request',
    status: 200,
  },
  'a level for a skill': { call: set('shell', '*', 'allow'), names: 'shell.run', status: 200 },
  'a level for a harmless tool': { call: set('time', '*', 'allow'), names: null, status: 200 },
  'a level that is lowered': { call: set('http', '*', 'deny'), names: null, status: 200 },
  'a level that is as it was': {
    ready: levels(level('http', 'request', 'allow')),
    call: set('http', 'request', 'allow'),
    names: null,
    status: 200,
  },
  'a level that lasts longer': {
    ready: (person) => levels(level('http', 'request', 'allow', { expiresAt: soon() }))(person),
    call: set('http', 'request', 'allow'),
    names: 'http.request',
    status: 200,
  },
  'a level that uncovers another': {
    ready: levels(level('http', 'request', 'allow'), level('http', '*', 'deny')),
    call: set('http', '*', 'ask'),
    names: 'http.request',
    status: 200,
  },
  'a level that ends and uncovers another': {
    ready: levels(level('http', 'request', 'allow'), level('http', '*', 'deny')),
    call: () => level('http', '*', 'deny', { expiresAt: soon() }),
    names: 'http.request',
    status: 200,
  },
  'a level that is taken away from over another': {
    ready: levels(level('http', 'request', 'allow'), level('http', '*', 'deny')),
    call: reset('http', '*'),
    names: 'http.request',
    status: 204,
  },
  'a level that is taken away from what is free without': {
    ready: levels(level('web', 'read', 'deny')),
    call: reset('web', 'read'),
    names: 'web.read',
    status: 204,
  },
  'a level that is taken away': {
    ready: levels(level('http', 'request', 'allow')),
    call: reset('http', 'request'),
    names: null,
    status: 204,
  },
  'an MCP server': {
    call: () => ({
      method: 'POST',
      path: '/api/skills/mcp',
      body: { name: 'probe', url: 'http://127.0.0.1:9/mcp' },
    }),
    names: 'probe.*',
    status: 201,
    isAdmins: true,
  },
  'what an MCP server changed': {
    call: () => ({
      method: 'POST',
      path: '/api/skills/probe/accept',
      body: { digest: DIGEST },
    }),
    names: 'probe.*',
    status: 409,
    isAdmins: true,
  },
  'a call of one’s own, which asks': {
    call: () => ({
      method: 'POST',
      path: '/api/skills/shell/tools/run/execute',
      body: { arguments: { argv: ['id'] } },
    }),
    names: null,
    status: 202,
  },
};

/** Fields of bodies that name tools and grant none, with the reason. */
const HARMLESS = {
  'POST /api/experts tools': 'narrows',
  'PATCH /api/experts/{id} tools': 'narrows',
  'POST /api/vault allowedTools': 'narrows',
  'PATCH /api/vault/{id} allowedTools': 'is the person’s alone where it is widened',
};

describe('whatever grants a tool', () => {
  let app: TestApp;
  let admin: { id: string; token: string };
  let bob: { id: string; token: string };
  before(async () => {
    app = await startApp();
    admin = await app.register('ada');
    bob = await app.register('bob');
    // The right that `shell` takes.
    const path = `/api/admin/users/${bob.id}`;
    await app.call('PATCH', path, {
      token: admin.token,
      body: { permissions: { shell: true } },
    });
  });
  after(() => app.stop());

  const as =
    (token: string): As =>
    ({ method, path, body }) =>
      app.call(method, path, { token, ...(method !== 'DELETE' && { body }) });

  const clear = async (owner: As): Promise<void> => {
    const ask = (method: string, path: string) => owner({ method, path, body: {} });
    const get = (path: string) => app.call('GET', path, { token: tokenOf(owner) });
    for (const { id } of (await get('/api/hooks')).body.hooks) {
      await ask('DELETE', `/api/hooks/${id}`);
    }
    for (const { skillId, action } of (await get('/api/skills/permissions')).body.permissions) {
      await ask('DELETE', `/api/skills/permissions/${skillId}/${action}`);
    }
  };
  const tokens = new Map<As, string>();
  const tokenOf = (owner: As): string => tokens.get(owner) ?? '';
  const person = (token: string): As => {
    const owner = as(token);
    tokens.set(owner, token);
    return owner;
  };

  const walk = async (
    owner: As,
    asker: As,
    wanted: (place: Place) => string,
    places = Object.entries(PLACES),
  ): Promise<void> => {
    for (const [name, place] of places) {
      await clear(owner);
      const id = (await place.ready?.(owner)) ?? '';
      const { status, body } = await asker(place.call(id));
      const said = `${status} ${body?.code ?? ''} ${body?.message ?? ''}`;
      expect([name, said.startsWith(wanted(place)) ? wanted(place) : said]).to.equal([
        name,
        wanted(place),
      ]);
    }
  };
  const granted = ({ status }: Place): string => `${status} `;
  const refused =
    (sentence: (names: string) => string) =>
    (place: Place): string =>
      place.names === null ? granted(place) : `403 ${CODE} ${sentence(place.names)}`;
  const ofTokens = refused(
    (names) =>
      `This token may not grant ${names}. Log in, or use a token with the scope approvals:write`,
  );

  it('takes the person, logged in', async () => {
    const owner = person(admin.token);
    await walk(owner, owner, granted);
    await app.call('DELETE', '/api/skills/mcp/probe', { token: admin.token });
  });

  it('or a token that names the right to approve', async () => {
    const scopes = [
      'agents:write',
      'hooks:write',
      'recurring-tasks:write',
      'skills:write',
      'approvals:write',
    ];
    const { token } = await makeToken(app, admin.token, { scopes });
    await walk(person(admin.token), as(token), granted);
    await app.call('DELETE', '/api/skills/mcp/probe', { token: admin.token });
  });

  it('is refused to a token that may write all but that', async () => {
    const scopes = [
      'agents:write',
      'hooks:write',
      'recurring-tasks:write',
      'skills:write',
      'approvals:read',
    ];
    const { token } = await makeToken(app, admin.token, { scopes });
    const owner = person(admin.token);
    const mcp = { name: 'probe', url: 'http://127.0.0.1:9/mcp' };
    await owner({ method: 'POST', path: '/api/skills/mcp', body: mcp });
    await walk(owner, as(token), ofTokens);
  });

  it('is refused to a token that names no scope', async () => {
    const { token } = await makeToken(app, bob.token);
    const places = Object.entries(PLACES).filter(([, { isAdmins }]) => !isAdmins);
    await walk(person(bob.token), as(token), ofTokens, places);
  });

  it('is refused under impersonation', async () => {
    const token = await app.impersonate(admin.token, bob.id);
    const places = Object.entries(PLACES).filter(([, { isAdmins }]) => !isAdmins);
    const wanted = refused(
      (names) =>
        `An admin who impersonates a user may not grant ${names}. Only the user can, when logged in`,
    );
    await walk(person(bob.token), as(token), wanted, places);
  });

  it('leaves nothing behind where it is refused', async () => {
    const owner = person(bob.token);
    await clear(owner);
    const { token } = await makeToken(app, bob.token);
    for (const name of ['a hook that makes the call', 'a level for a tool']) {
      await as(token)(PLACES[name]?.call('') ?? level('', '', ''));
    }
    const get = async (path: string) => (await app.call('GET', path, { token: bob.token })).body;
    expect((await get('/api/hooks')).hooks).to.equal([]);
    expect((await get('/api/skills/permissions')).permissions).to.equal([]);
  });

  it('is in the table wherever a body can name tools', () => {
    const walked = [
      'POST /api/agents tools',
      ...['POST /api/recurring-tasks', 'PATCH /api/recurring-tasks/{id}'].map(
        (name) => `${name} actionConfig.agentTools`,
      ),
    ];
    const ofHooks = ['agentTools', 'toolAction', 'toolId', 'toolParams'];
    const inHooks = ['POST /api/hooks', 'PUT /api/hooks/{id}'].flatMap((name) =>
      ofHooks.map((field) => `${name} actionConfig.${field}`),
    );
    const naming = endpoints.flatMap(({ method, path, body }) =>
      fieldsOf(body?.describe())
        .filter(isAboutTools)
        .map((field) => `${method} ${path} ${field}`),
    );
    expect(naming.sort()).to.equal([...walked, ...inHooks, ...Object.keys(HARMLESS)].sort());
  });
});

const fieldsOf = (described: unknown): string[] => {
  const keys = Object(Reflect.get(Object(described), 'keys'));
  return Object.entries(keys).flatMap(([name, inner]) => [
    name,
    ...fieldsOf(inner).map((field) => `${name}.${field}`),
  ]);
};
/** `supports.tools` says what a model can. */
const isAboutTools = (field: string): boolean => /tool/i.test(field) && !/^supports\./.test(field);
