import { askApproval } from '../../harness/approval.js';
import { seedGrant } from '../../harness/grant.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const over = async (scene: Scene): Promise<string[]> => [await scene.agent()];
const busy = async (scene: Scene): Promise<string[]> => [await scene.busyAgent()];
const asked = ({ world, ada }: Scene): Promise<string> => askApproval(world.app, ada.id);
const granted = ({ world, ada }: Scene): Promise<string> => seedGrant(world.app, ada.id);
const tool = (name: string) => ({ skillId: 'http', action: name });

/** A server that cannot be reached; its name. */
const server = async ({ ada, name }: Scene): Promise<string> => {
  const { skill } = { skill: name() };
  await ada.client.skills['mcp-add']({ body: { name: skill, url: 'http://127.0.0.1:1/mcp' } });
  return skill;
};

const talked = async (scene: Scene): Promise<string> => {
  const agent = await scene.ada.client.agents.get({ id: await scene.agent() });
  return agent.sessionId;
};

export const agents: Recipes = {
  'agents list': { needs: (scene) => scene.agent() },
  'agents spawn': { words: () => ['Say hello', '--model', 'digest'] },
  'agents get': { words: over },
  'agents message': { words: async (scene) => [await scene.agent(), 'And again'] },
  'agents pause': { words: busy },
  'agents resume': {
    words: async (scene) => {
      const id = await scene.busyAgent();
      await scene.ada.client.agents.pause({ id });
      return [id];
    },
  },
  'agents stop': { words: busy },
  'agents delete': { words: async (scene) => [await scene.agent(), '--yes'] },
  'agents events': { words: over },
  'agents tail': { words: async (scene) => [await scene.agent(), '--until-done'], json: 'lines' },
  'agents tree': { words: over, json: 'its own' },
  'agents wait': { words: over, json: 'its own' },
  chat: { words: () => ['Say hello', '--model', 'digest'], json: 'its own', isText: true },
  'sessions list': { needs: (scene) => scene.agent() },
  'sessions get': { words: async (scene) => [await talked(scene)] },
  'sessions messages': { words: async (scene) => [await talked(scene)], isText: true },
  'approvals list': { needs: (scene) => asked(scene) },
  'approvals get': { words: async (scene) => [await asked(scene)] },
  'approvals approve': { words: async (scene) => [await asked(scene), '--yes'] },
  'approvals deny': {
    words: async (scene) => [await asked(scene), 'not today'],
  },
  'approvals grants list': { needs: (scene) => granted(scene) },
  'approvals grants delete': { words: async (scene) => [await granted(scene), '--yes'] },
  'approvals watch': { until: /./, json: 'lines', exit: 130 },
  'skills list': {},
  'skills get': { words: () => ['time'] },
  'skills tools': {},
  'skills run': { words: () => ['time.now'] },
  'skills permissions list': {
    needs: ({ ada }) => ada.client.permissions.set({ body: { ...tool('request'), level: 'ask' } }),
  },
  'skills permissions set': { words: () => ['http.request', 'ask', '--reason', 'to be sure'] },
  'skills permissions reset': {
    words: async ({ ada }) => {
      await ada.client.permissions.set({ body: { ...tool('request'), level: 'ask' } });
      return ['http.request'];
    },
  },
  'mcp list': { needs: (scene) => server(scene) },
  'mcp add': { words: ({ name }) => [name(), 'http://127.0.0.1:1/mcp'] },
  'mcp accept': { words: async (scene) => [await server(scene), '--yes'], json: 'nothing' },
  'mcp refresh': { words: async (scene) => [await server(scene)] },
  'mcp delete': { words: async (scene) => [await server(scene), '--yes'] },
};
