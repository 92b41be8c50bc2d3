import { type Reply, startApp, type TestApp, type TestOptions } from '../harness/app.js';

/** A daemon with an admin and a plain user, and what tests of skills do all the time. */
export interface Stage {
  test: TestApp;
  /** A call of the admin's. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** A call of the plain user's. */
  plain(method: string, path: string, body?: unknown): Promise<Reply>;
  /** The admin runs a tool, whose level is `allow` already. */
  run(skill: string, tool: string, args?: object): Promise<Reply>;
  /** Adds an MCP server whose tools the admin may run without asking. */
  add(server: object): Promise<Reply>;
}

export const openStage = async (options: TestOptions = {}): Promise<Stage> => {
  const test = await startApp(options);
  const [admin, user] = [await test.register('admin'), await test.register('plain')];
  const as =
    (token: string): Stage['ask'] =>
    (method, path, body) =>
      test.call(method, path, { token, ...(body !== undefined && { body }) });
  const ask = as(admin.token);
  return {
    test,
    ask,
    plain: as(user.token),
    run: (skill, tool, args = {}) =>
      ask('POST', `/api/skills/${skill}/tools/${tool}/execute`, { arguments: args }),
    add: async (server) => {
      const added = await ask('POST', '/api/skills/mcp', server);
      const permission = { skillId: added.body?.id, action: '*', level: 'allow' };
      if (added.status === 201) await ask('PUT', '/api/skills/permissions', permission);
      return added;
    },
  };
};
