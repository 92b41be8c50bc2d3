import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call, enterAs, type Stage, startStage } from '../agents/stage.js';
import { PASSWORD, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type Everything, startEverything } from '../harness/mcp.js';
import { says } from '../harness/openai.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NAME = 'acme-tools';
const TOOL = `${NAME}.echo`;
const SECRET = 'Bearer of-acme-1234567890';
const ECHO = `/api/skills/${NAME}/tools/echo/execute`;
const HELLO = { arguments: { message: 'hello' } };
const ECHOED = { result: { text: 'Echo: hello' } };

describe('MCP servers of an organization', () => {
  let theirs: Everything;
  let root: Stage;
  let olga: Stage;
  let max: Stage;
  let eve: Stage;
  let orgId: string;
  let otherId: string;

  before(async () => {
    theirs = await startEverything();
    root = await startStage({ egressAllow: [theirs.address] });
    // An owner, a member, and a stranger who owns another organization.
    olga = await enterAs(root, 'olga');
    max = await enterAs(root, 'max');
    eve = await enterAs(root, 'eve');
    orgId = await newOrg(olga, 'acme');
    otherId = await newOrg(eve, 'acme-labs');
    await olga.ask('POST', `/api/orgs/${orgId}/members`, { username: 'max' });
    const made = await olga.ask('POST', '/api/skills/mcp', server());
    expect([made.status, made.body.status], made.text).to.equal([201, 'ready']);
    await allow(olga, orgId);
  });
  after(async () => {
    await root.stop();
    await theirs.kill();
  });

  const newOrg = async (owner: Stage, slug: string): Promise<string> => {
    const { body } = await owner.ask('POST', '/api/orgs', { slug, name: slug });
    await root.ask('PATCH', `/api/admin/orgs/${body.id}`, { approved: true });
    return body.id;
  };
  const server = (more: object = {}) => ({
    ...{ orgId, name: NAME, url: theirs.url, headers: { Authorization: SECRET }, ...more },
  });
  const allow = (who: Stage, org: string, skillId = NAME) =>
    who.ask('PUT', '/api/skills/permissions', {
      ...{ orgId: org, skillId, action: '*', level: 'allow' },
    });
  const faultOf = async (who: Stage, body: object) => {
    const reply = await who.ask('POST', '/api/skills/mcp', body);
    return [reply.status, reply.body.details?.[0]?.path ?? reply.body.code];
  };
  const idsOf = async (who: Stage, query = ''): Promise<string[]> =>
    (await who.ask('GET', `/api/skills${query}`)).body.skills.map(({ id }: { id: string }) => id);
  /** Names of the tools that the model of an agent gets. */
  const offeredTo = async (who: Stage, body: object): Promise<string[]> => {
    root.model.script(says({ text: 'Nothing.' }));
    const { id } = await who.spawn({ prompt: 'Say it', ...body });
    await who.reaches(id);
    const { tools = [] } = root.model.asked.at(-1)?.body ?? {};
    return tools.map(({ function: { name } }) => name);
  };
  const hook = (more: object) => ({
    ...{ name: 'echo', trigger: 'webhook', action: 'execute_tool', ...more },
    triggerConfig: { webhookPath: 'echo', webhookSecret: 'a secret of the tests' },
    actionConfig: { toolId: NAME, toolAction: 'echo', toolParams: { message: 'of a hook' } },
  });
  const resultOfHook = async (who: Stage, id: string) => {
    const { body } = await who.ask('POST', `/api/hooks/${id}/test`, { payload: {}, dryRun: false });
    const found = await until(
      async () => (await who.ask('GET', `/api/hooks/executions/${body.id}`)).body,
      ({ status }) => ['success', 'error', 'skipped'].includes(status),
    );
    return found.error ?? found.result;
  };

  it('are seen by its members, with address and secrets for those who may change them', async () => {
    const owned = (await olga.ask('GET', `/api/skills/${NAME}`)).body;
    expect(owned).to.include({ id: NAME, orgId, status: 'ready', source: 'mcp', pending: null });
    const { url, transport, everyone, headersSet } = owned.server;
    expect([url, transport, everyone, headersSet]).to.equal([
      ...[theirs.url, 'http', false, ['Authorization']],
    ]);
    expect((await max.ask('GET', `/api/skills/${NAME}`)).body).to.equal({ ...owned, server: null });
    expect((await olga.ask('GET', '/api/skills')).text).not.to.contain(SECRET);
    expect(await idsOf(max)).to.include([NAME, 'http']);
    expect(await idsOf(max, `?orgId=${orgId}`)).to.equal(await idsOf(max));
    expect(await idsOf(max, '?orgId=personal')).to.not.include(NAME);
    const { body } = await max.ask('GET', `/api/skills/tools/all?skillId=${NAME}&limit=200`);
    const echo = body.tools.find(({ name }: { name: string }) => name === 'echo');
    expect([echo.skillId, echo.source]).to.equal([NAME, 'mcp']);
  });

  it('are listed page by page among the skills of the installation', async () => {
    for (const [path, rows] of [
      ['/api/skills', 'skills'],
      ['/api/skills/tools/all', 'tools'],
    ] as const) {
      const all = (await max.ask('GET', `${path}?limit=200`)).body[rows];
      const found: unknown[] = [];
      let query = '?limit=5';
      for (;;) {
        const { body } = await max.ask('GET', path + query);
        found.push(...body[rows]);
        if (body.nextCursor === null) break;
        query = `?limit=5&cursor=${body.nextCursor}`;
      }
      expect(found, path).to.equal(all);
    }
    expect(await idsOf(max)).to.equal((await idsOf(max)).sort());
  });

  it('do not exist for others, whatever they do', async () => {
    for (const who of [eve, root]) {
      expect(await idsOf(who)).to.not.include(NAME);
      expect((await who.ask('GET', '/api/skills/tools/all?limit=200')).text).not.to.contain(NAME);
      expect((await who.ask('GET', `/api/skills?orgId=${orgId}`)).status).to.equal(404);
      expect((await who.ask('POST', '/api/skills/mcp', server({ name: 'acme-b' }))).status) //
        .to.equal(404);
      for (const [method, path, body] of [
        ['GET', '/api/skills/NAME', undefined],
        ['POST', '/api/skills/NAME/refresh', undefined],
        ['POST', '/api/skills/NAME/accept', { digest: '0'.repeat(64) }],
        ['DELETE', '/api/skills/mcp/NAME', undefined],
        ['POST', '/api/skills/NAME/tools/echo/execute', HELLO],
        ['DELETE', '/api/skills/permissions/NAME/echo', undefined],
        [
          ...['PUT', '/api/skills/permissions'],
          { skillId: 'NAME', action: 'echo', level: 'allow' },
        ],
        ['POST', '/api/agents', { prompt: 'Say', tools: ['NAME.echo'] }],
        [
          ...['POST', '/api/experts'],
          { name: 'theirs', description: 'x', instructions: 'x', tools: ['NAME'] },
        ],
      ] as [string, string, object | undefined][]) {
        const replyTo = async (name: string) => {
          const asked = body && JSON.parse(JSON.stringify(body).replace('NAME', name));
          const { status, body: reply } = await who.ask(method, path.replace('NAME', name), asked);
          return [
            ...[
              status,
              reply.message?.replaceAll(name, 'NAME').replace(/closest names: [^;]*/, ''),
            ],
          ];
        };
        expect(await replyTo(NAME), `${method} ${path}`).to.equal(await replyTo('acme-other'));
      }
    }
    expect((await olga.ask('GET', `/api/skills/${NAME}`)).body.status).to.equal('ready');
  });

  it('are changed by owners and admins alone', async () => {
    for (const [method, path, body] of [
      ['POST', `/api/skills/${NAME}/refresh`, undefined],
      ['POST', `/api/skills/${NAME}/accept`, { digest: '0'.repeat(64) }],
      ['DELETE', `/api/skills/mcp/${NAME}`, undefined],
      ['POST', '/api/skills/mcp', server({ name: 'acme-two' })],
    ] as const) {
      const refused = await max.ask(method, path, body);
      expect([refused.status, refused.body.code], path).to.equal([403, 'org_role']);
    }
    const refreshed = await olga.ask('POST', `/api/skills/${NAME}/refresh`);
    expect([refreshed.status, refreshed.body.status]).to.equal([200, 'ready']);
    // Servers of the installation are not theirs.
    await root.ask('POST', '/api/skills/mcp', { name: 'shared', url: theirs.url, everyone: true });
    expect(await idsOf(olga)).to.include('shared');
    expect((await olga.ask('GET', '/api/skills/shared')).body).to.include({ server: null });
    expect((await olga.ask('POST', '/api/skills/shared/refresh')).status).to.equal(403);
    expect((await olga.ask('DELETE', '/api/skills/mcp/shared')).status).to.equal(403);
    expect(await faultOf(olga, { name: 'plain', url: theirs.url })).to.equal([403, undefined]);
    expect((await root.ask('DELETE', '/api/skills/mcp/shared')).status).to.equal(204);
    const weak = await makeToken(root, olga.token, { scopes: ['skills:write'] });
    const byToken = await root.call('POST', '/api/skills/mcp', {
      ...{ token: weak.token, body: server({ name: 'acme-two' }) },
    });
    expect([byToken.status, byToken.body.code]).to.equal([403, 'approval_right_missing']);
  });

  it('have names that begin with its slug, which nobody else may take', async () => {
    for (const name of ['plain', 'acme', 'ACME-tools', 'acmetools']) {
      expect(await faultOf(olga, server({ name })), name).to.equal([400, 'name']);
    }
    const taken = [409, 'name_taken'];
    expect(await faultOf(olga, server())).to.equal(taken);
    // Of the other organization.
    expect(await faultOf(olga, server({ name: 'acme-labs-tools' }))).to.equal(taken);
    expect(await faultOf(root, { name: 'acme-more', url: theirs.url })).to.equal(taken);
    expect(await faultOf(root, { name: NAME, url: theirs.url })).to.equal(taken);
    // An organization that is not approved takes no names from the installation.
    await eve.ask('POST', '/api/orgs', { slug: 'git', name: 'Not approved' });
    expect(await faultOf(root, { name: 'git-hub', url: theirs.url })).to.equal([201, undefined]);
    expect((await root.ask('DELETE', '/api/skills/mcp/git-hub')).status).to.equal(204);
  });

  it('are not replaced by a server of mcp.json with the name', async () => {
    const file = { mcpServers: { [NAME]: { url: theirs.url, everyone: true } } };
    await writeFile(join(root.home, 'mcp.json'), JSON.stringify(file));
    const { body } = await root.ask('GET', `/api/skills/${NAME}@mcp`);
    expect([body.status, body.tools, body.orgId]).to.equal(['invalid', [], null]);
    expect(body.reason).to.contain('Choose another name in mcp.json');
    expect(await idsOf(eve)).to.not.include(NAME);
    expect((await max.ask('GET', `/api/skills/${NAME}`)).body.status).to.equal('ready');
    await writeFile(join(root.home, 'mcp.json'), '{ "mcpServers": {} }');
    expect(await idsOf(root)).to.not.include(`${NAME}@mcp`);
  });

  it('run no program, unless an admin of the installation adds them', async () => {
    const program = { orgId, name: 'acme-program', command: 'true' };
    const refused = await olga.ask('POST', '/api/skills/mcp', program);
    expect([refused.status, refused.body.message]).to.equal([
      403,
      'Only an admin of the installation may add a server that runs a program. Pass url instead of command',
    ]);
    // The permission lets her use the servers of the installation, and no more.
    await root.ask('PATCH', `/api/users/${olga.userId}`, { permissions: { mcp: true } });
    expect((await olga.ask('POST', '/api/skills/mcp', program)).status).to.equal(403);
    await root.ask('PATCH', `/api/users/${olga.userId}`, { permissions: { mcp: null } });
    await olga.ask('POST', `/api/orgs/${orgId}/members`, { username: 'owner', role: 'admin' });
    const added = await root.ask('POST', '/api/skills/mcp', program);
    expect([added.status, added.body.orgId], added.text).to.equal([201, orgId]);
    expect((await root.ask('DELETE', '/api/skills/mcp/acme-program')).status).to.equal(204);
    await olga.ask('DELETE', `/api/orgs/${orgId}/members/${root.userId}`);
    expect(await faultOf(olga, server({ name: 'acme-all', everyone: true }))).to.equal([
      ...[400, 'everyone'],
    ]);
  });

  it('reach no private address', async () => {
    for (const url of [
      root.model.baseUrl,
      'http://169.254.169.254/mcp',
      'http://tools.local/mcp',
      'http://[::1]:9/mcp',
    ]) {
      expect(await faultOf(olga, server({ name: 'acme-near', url })), url).to.equal([400, 'url']);
    }
    // As if its name resolved to this machine: the guard applies to each call.
    const { skills, toolbox } = inside(root.app);
    const { db } = root.app.store;
    const moveTo = async (url: string) => {
      const row = await db.selectFrom('mcp_servers').selectAll().executeTakeFirstOrThrow();
      const spec = JSON.stringify({ ...JSON.parse(row.spec), at: { kind: 'http', url } });
      await db.updateTable('mcp_servers').set({ spec }).execute();
      await skills.servers.start();
    };
    const before = root.model.asked.length;
    await moveTo(root.model.baseUrl);
    const { body } = await olga.ask('POST', `/api/skills/${NAME}/refresh`);
    expect([body.status, root.model.asked.length]).to.equal(['failed', before]);
    expect(body.reason).to.contain('127.0.0.1 is refused');
    const seen = (await max.ask('GET', `/api/skills/${NAME}`)).body;
    expect([seen.status, seen.reason]).to.equal(['failed', body.reason.replace('127.0.0.1', '…')]);
    // As after a restart: the accepted tools are known.
    await moveTo(theirs.url);
    expect(toolbox.of(orgId).find(NAME, 'echo')?.unavailable).to.be.null();
    const again = await olga.ask('POST', `/api/skills/${NAME}/refresh`);
    expect(again.body.status).to.equal('ready');
  });

  it('have tools that members run, and that need an approval of the organization', async () => {
    expect((await max.ask('POST', ECHO, HELLO)).body).to.equal(ECHOED);
    const reset = `/api/skills/permissions/${NAME}/*`;
    expect((await max.ask('DELETE', reset)).body.code).to.equal('org_role');
    expect((await olga.ask('DELETE', reset)).status).to.equal(204);
    const asked = await max.ask('POST', ECHO, HELLO);
    expect([asked.status, asked.body.approval?.orgId]).to.equal([202, orgId]);
    const { id: approvalId } = asked.body.approval;
    const approval = { approvalId, approved: true };
    expect((await max.ask('POST', '/api/chat/approve', approval)).status).to.equal(403);
    expect((await olga.ask('POST', '/api/chat/approve', approval)).status).to.equal(200);
    expect((await max.ask('POST', ECHO, { ...HELLO, approvalId })).body).to.equal(ECHOED);
    const set = await allow(olga, orgId);
    expect([set.status, set.body.orgId]).to.equal([200, orgId]);
    const own = { skillId: 'http', action: 'request', level: 'ask' };
    const personal = await olga.ask('PUT', '/api/skills/permissions', own);
    expect(personal.body.orgId).to.be.null();
    // The reply is accepted as it is.
    for (const { body } of [set, personal]) {
      const { status, body: kept } = await olga.ask('PUT', '/api/skills/permissions', body);
      expect([status, kept.orgId]).to.equal([200, body.orgId]);
    }
  });

  it('are used by its agents, and by no personal one of its members', async () => {
    expect(await offeredTo(max, { orgId })).to.include('acme-tools_echo');
    for (const [who, body] of [
      [max, {}],
      [olga, {}],
      [root, {}],
      [eve, {}],
      [eve, { orgId: otherId }],
    ] as const) {
      const offered = await offeredTo(who, body);
      expect(offered).to.include('http_request');
      expect(offered.filter((name) => name.includes('acme'))).to.equal([]);
    }
    const personal = await max.ask('POST', '/api/agents', { prompt: 'Say', tools: [TOOL] });
    expect([personal.status, personal.body.details?.[0]?.path]).to.equal([400, 'tools.0']);
    // A model may make up the name of the function.
    for (const [body, expected] of [
      [{ orgId }, 'Echo: of an agent'],
      [{}, 'acme-tools_echo'],
    ] as const) {
      root.model.script(
        says({ toolCalls: [call('acme-tools_echo', { message: 'of an agent' })] }),
        says({ text: 'Done.' }),
      );
      const { id, sessionId } = await olga.spawn({ prompt: 'Say it', ...body });
      await olga.reaches(id);
      const found = (await olga.messages(sessionId)).find(({ role }) => role === 'tool');
      expect(found?.content).to.contain(expected);
      expect(found?.content.includes('Echo:')).to.equal('orgId' in body);
    }
  });

  it('are used by its hooks, and by no personal one', async () => {
    const made = await olga.ask('POST', '/api/hooks', hook({ orgId }));
    expect(made.status, made.text).to.equal(201);
    expect(await resultOfHook(olga, made.body.id)).to.equal({ text: 'Echo: of a hook' });
    const personal = await olga.ask('POST', '/api/hooks', hook({ name: 'own' }));
    expect(personal.status, personal.text).to.equal(201);
    expect(await resultOfHook(olga, personal.body.id)).to.contain(`Unknown tool: ${TOOL}`);
  });

  it('are used by its pipelines, and by no personal one', async () => {
    const config = { toolId: NAME, toolAction: 'echo', toolParams: { message: 'of a stage' } };
    const stages = [{ key: 'one', kind: 'tool', config }];
    const template = { name: 'echo', stages };
    const personal = await olga.ask('POST', '/api/pipelines/templates', template);
    expect([personal.status, personal.body.details?.[0]?.path]).to.equal([
      ...[400, 'stages.0.config.toolId'],
    ]);
    const made = await olga.ask('POST', '/api/pipelines/templates', { ...template, orgId });
    expect(made.status, made.text).to.equal(201);
    const started = await olga.ask('POST', '/api/pipelines', { templateId: made.body.id });
    const run = await until(
      async () => (await olga.ask('GET', `/api/pipelines/${started.body.id}`)).body,
      ({ status }) => ['completed', 'failed'].includes(status),
    );
    expect([run.status, JSON.stringify(run)]).to.satisfy(
      ([status, text]: string[]) =>
        status === 'completed' && text !== undefined && text.includes('Echo: of a stage'),
    );
  });

  it('refuse a call for another owner, even with the tool in hand', async () => {
    const tool = inside(root.app).toolbox.of(orgId).find(NAME, 'echo');
    const context = {
      ...{ agentId: null, executionId: null, effectId: 'call_1', userId: max.userId },
      openFolder: () => Promise.reject(new Error('not needed')),
      signal: new AbortController().signal,
    };
    const run = tool?.run({ message: 'x' }, context).catch(({ message }: Error) => message);
    expect(await run).to.equal(`No tool named ${TOOL}`);
  });

  it('are recorded in the audit log, with the person and the organization', async () => {
    const { body } = await olga.ask('GET', `/api/orgs/${orgId}/audit?limit=200`);
    const entry = body.entries.find(
      ({ action, target }: Record<string, string>) =>
        action === 'skills.mcp_add' && target === NAME,
    );
    expect([entry.actorName, entry.data]).to.equal(['olga', { url: theirs.url, orgId }]);
  });

  it('are not used while the organization is not approved', async () => {
    const approve = (approved: boolean) =>
      root.ask('PATCH', `/api/admin/orgs/${orgId}`, { approved });
    await approve(false);
    for (const [path, body] of [
      [ECHO, HELLO],
      [`/api/skills/${NAME}/refresh`, undefined],
      ['/api/skills/mcp', server({ name: 'acme-two' })],
      ['/api/agents', { prompt: 'Say', orgId }],
    ] as const) {
      const refused = await olga.ask('POST', path, body);
      expect([refused.status, refused.body.code], path).to.equal([409, 'org_not_approved']);
    }
    expect((await olga.ask('GET', `/api/skills/${NAME}`)).status).to.equal(200);
    await approve(true);
    expect((await max.ask('POST', ECHO, HELLO)).body).to.equal(ECHOED);
  });

  it('are ten at most', async () => {
    const { db } = root.app.store;
    const row = await db.selectFrom('mcp_servers').selectAll().executeTakeFirstOrThrow();
    const more = Array.from({ length: 9 }, (_, at) => ({
      ...{ ...row, name: `acme-${at}`, sealed: null },
    }));
    await db.insertInto('mcp_servers').values(more).execute();
    await inside(root.app).skills.servers.start();
    expect(await faultOf(olga, server({ name: 'acme-10' }))).to.equal([409, 'too_many']);
    expect((await olga.ask('DELETE', '/api/skills/mcp/acme-0')).status).to.equal(204);
    expect((await olga.ask('GET', '/api/skills/acme-0')).status).to.equal(404);
  });

  it('are lost by a member who leaves', async () => {
    await max.ask('DELETE', `/api/orgs/${orgId}/members/${max.userId}`);
    expect((await max.ask('GET', `/api/skills/${NAME}`)).status).to.equal(404);
    expect((await max.ask('POST', ECHO, HELLO)).status).to.equal(404);
    expect(await idsOf(max)).to.not.include(NAME);
  });

  it('are deleted with the organization, also if its resources are transferred', async () => {
    const remove = (who: Stage, id: string, more: object) =>
      who.ask('DELETE', `/api/orgs/${id}`, { password: PASSWORD, ...more });
    const removed = await remove(olga, orgId, { slug: 'acme', resources: 'transfer' });
    expect(removed.status, removed.text).to.equal(204);
    expect((await idsOf(olga)).filter((id) => id.startsWith('acme'))).to.equal([]);
    const { db } = root.app.store;
    for (const table of ['mcp_servers', 'mcp_listings', 'mcp_pins'] as const) {
      expect(await db.selectFrom(table).selectAll().execute(), table).to.equal([]);
    }
    expect(inside(root.app).toolbox.of(orgId).find(NAME, 'echo')).to.be.null();
    // Without other resources, the servers alone need an answer.
    const anew = await newOrg(eve, 'acme');
    const made = await eve.ask('POST', '/api/skills/mcp', server({ orgId: anew }));
    expect([made.status, made.body.status]).to.equal([201, 'ready']);
    const unanswered = await remove(eve, anew, { slug: 'acme' });
    expect(unanswered.body.details?.[0]?.path).to.equal('resources');
    expect((await remove(eve, anew, { slug: 'acme', resources: 'delete' })).status).to.equal(204);
    expect(await db.selectFrom('mcp_pins').selectAll().execute()).to.equal([]);
    expect(await faultOf(root, { name: NAME, url: theirs.url })).to.equal([201, undefined]);
  });
});
