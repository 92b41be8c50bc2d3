import { until, untilMatches } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { seedEntry } from '../../harness/entry.js';
import { seedFolder } from '../../harness/folder.js';
import { inside } from '../../harness/inside.js';
import { seedLostMessage } from '../../harness/messages.js';
import { seedOperation, waitingOperation } from '../../harness/operation.js';
import { seedWebhook } from '../../harness/webhook.js';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const named = async (scene: Scene): Promise<string[]> => [await scene.model()];

const credential = async ({ ada, name }: Scene): Promise<string> =>
  (await ada.client.vault.create({ body: { name: name(), value: 'a value of the scene' } })).name;

/** One whose value before can still be had. */
const rotated = async (scene: Scene): Promise<string[]> => {
  const name = await credential(scene);
  const { credentials } = await scene.ada.client.vault.list();
  const id = credentials.find((one) => one.name === name)?.id ?? '';
  await scene.ada.client.vault.rotate({ id, body: { generate: true } });
  return [name];
};

/** A folder that was indexed; the end of its id. */
const folder = async ({ world, ada }: Scene): Promise<string[]> => [
  (await seedFolder(world.app, ada.id)).slice(-6),
];

/** An outgoing webhook, and a delivery of it that failed. */
const outgoing = async ({ world, ada, target }: Scene) => {
  const made = await seedWebhook(world.app, ada.token);
  await ada.client.webhooks.update({ id: made.id, body: { url: target.url, enabled: true } });
  return made;
};
const outgoingId = async (scene: Scene): Promise<string[]> => [(await outgoing(scene)).id];

const channel = ({ world, ada, name }: Scene) =>
  linkChannel(world.app, ada.id, { kind: 'slack', id: name(), name: 'Ada Lovelace' });

/** An address of one's own, and the code that was sent there. */
const addressed = async ({ ada, target, name }: Scene) => {
  const path = `/${name()}`;
  const body = { kind: 'webhook' as const, url: target.url + path, name: path };
  const { channel: made } = await ada.client.channels.create({ body });
  const sent = await until(
    async () => target.received.find((each) => each.path === path),
    (found) => found !== undefined,
  );
  const { code }: { code: string } = JSON.parse(sent?.body ?? '').data;
  return { id: made.id, code };
};

const verified = async (scene: Scene): Promise<string> => {
  const { id, code } = await addressed(scene);
  await scene.ada.client.channels.verify({ id, body: { code } });
  return id;
};

/** A topic of a server that takes everything. */
const topic = async ({ ada, target, name }: Scene): Promise<string[]> => {
  const body = { baseUrl: target.url };
  await ada.client.platforms.update({ kind: 'ntfy', body });
  return ['ntfy', name(), '--no-input'];
};

/** Something that was told; its id. */
const told = async ({ world, ada }: Scene): Promise<string> => {
  await inside(world.app.app).outbox.send(ada.id, {
    ...{ kind: 'hook_notice', title: 'It came', body: 'All of it', link: null },
  });
  const { notifications } = await ada.client.notifications.list();
  return notifications[0]?.id ?? '';
};

const lost = async (scene: Scene): Promise<string> => {
  const { id } = await channel(scene);
  return seedLostMessage(scene.world.app, { userId: scene.ada.id, channel: id });
};

const completed = ({ world, ada }: Scene): Promise<string> => seedOperation(world.app, ada.id);
const waiting = ({ world, ada }: Scene): Promise<string> => waitingOperation(world.app, ada.id);

const telegram = async ({ ada, target }: Scene): Promise<string> => {
  const values = {
    botToken: '123456:ABC',
    webhookSecret: 'a-secret_of-our-own-choice-of-32-signs',
  };
  await ada.client.platforms.update({ kind: 'telegram', body: { baseUrl: target.url, values } });
  return 'telegram';
};

/** An entry that can be searched; its id. */
const entry = async ({ world, ada, name }: Scene): Promise<string[]> => [
  await seedEntry(world.app, ada.token, `The server of ${name()} is up.`),
];

/** A memory; the end of its id. */
const remembered = async ({ ada, name }: Scene): Promise<string[]> => {
  const { id } = await ada.client.memories.create({ body: { text: `The server is ${name()}` } });
  return [id.slice(-6)];
};

/** A page that was read; its id. */
const reading = async ({ ada, target }: Scene): Promise<string[]> => {
  const { id } = await ada.client.reader.read({ body: { url: `${target.url}/page` } });
  return [id.slice(-6)];
};

/** A page whose server does not answer. */
const slowReading = async ({ ada, silent }: Scene): Promise<string[]> => {
  const { id } = await ada.client.reader.read({ body: { url: `${silent.url}/page`, wait: 0 } });
  return [id.slice(-6)];
};

/** An entry, and a model that answers at once; others of the scene never answer. */
const answerable = async (scene: Scene): Promise<void> => {
  await entry(scene);
  await scene.ada.client.models.default({ name: 'digest' });
};

/** A question to the knowledge of its owner, which ends soon; the end of its id. */
const researched = async ({ ada }: Scene): Promise<string[]> => {
  const body = { question: 'Which server is up?', depth: 'quick' } as const;
  await ada.client.models.default({ name: 'digest' });
  const { id } = await ada.client.research.start({ body: { ...body, sources: ['knowledge'] } });
  await untilMatches(() => ada.client.research.get({ id }), { status: 'completed' });
  return [id.slice(-6)];
};

/** A question that waits for a page whose server does not answer. */
const researching = async ({ ada, silent }: Scene): Promise<string[]> => {
  const body = { question: 'Is it up?', urls: [`${silent.url}/page`] };
  const { id } = await ada.client.research.start({ body: { ...body, sources: ['web'] } });
  return [id.slice(-6)];
};

/** A task; the end of its id. */
const task = async ({ ada, name }: Scene): Promise<string[]> => {
  const { id } = await ada.client.tasks.create({ body: { title: `Look at ${name()}` } });
  return [id.slice(-6)];
};

const doneTask = async (scene: Scene): Promise<string[]> => {
  const [tail = ''] = await task(scene);
  const { tasks } = await scene.ada.client.tasks.list();
  const id = tasks.find((each) => each.id.endsWith(tail))?.id ?? '';
  await scene.ada.client.tasks.complete({ id });
  return [tail];
};

export const things: Recipes = {
  'tasks list': { needs: task },
  'tasks get': { words: task },
  'tasks create': { words: ({ name }) => [`Look at ${name()}`, '--due', '2026-02-01'] },
  'tasks update': { words: async (scene) => [...(await task(scene)), '--priority', '2'] },
  'tasks complete': { words: task },
  'tasks reopen': { words: doneTask },
  'tasks delegate': { words: task },
  'tasks delete': { words: async (scene) => [...(await task(scene)), '--yes'] },
  'tasks feed create': {},
  'tasks feed delete': { needs: ({ ada }) => ada.client.tasks.feed(), words: () => ['--yes'] },
  'knowledge list': { needs: entry },
  'knowledge stats': {},
  'knowledge search': {
    needs: entry,
    words: () => ['server'],
  },
  'knowledge ask': { needs: answerable, words: () => ['Which server is up?'] },
  'knowledge get': { words: entry },
  'knowledge chunk': { words: async (scene) => [...(await entry(scene)), '0'] },
  'knowledge create': { words: ({ name }) => [`The note is ${name()}`, '--tags', 'servers'] },
  'knowledge index': { words: () => ['-', '--title', 'A text'], stdin: 'A text of the scene.' },
  'knowledge update': { words: async (scene) => [...(await entry(scene)), '--tags', 'new'] },
  'knowledge folders list': { needs: folder },
  'knowledge folders get': { words: folder },
  'knowledge folders delete': { words: async (scene) => [...(await folder(scene)), '--yes'] },
  'knowledge delete': { words: async (scene) => [...(await entry(scene)), '--yes'] },
  'reader read': { words: ({ target }) => [`${target.url}/page`], isText: true },
  'reader tasks': { needs: reading },
  'reader show': { words: reading, isText: true },
  'reader cancel': { words: slowReading },
  'reader delete': { words: async (scene) => [...(await reading(scene)), '--yes'] },
  'research start': {
    needs: answerable,
    words: () => ['Which server is up?', '--depth', 'quick', '--sources', 'knowledge'],
    isText: true,
  },
  'research list': { needs: researched },
  'research get': { words: researched, isText: true },
  'research cancel': { words: researching },
  'research delete': { words: async (scene) => [...(await researched(scene)), '--yes'] },
  'memories list': { needs: remembered },
  'memories get': { words: remembered },
  'memories create': { words: ({ name }) => [`The server is ${name()}`, '--about', 'project'] },
  'memories update': { words: async (scene) => [...(await remembered(scene)), '--pinned'] },
  'memories confirm': { words: remembered },
  'memories delete': { words: async (scene) => [...(await remembered(scene)), '--yes'] },
  'models list': {},
  'models get': { words: named },
  'models create': {
    words: ({ name, target }) => [
      ...[name(), '--provider', 'openai-compatible', '--model-id', 'fake-1'],
      ...['--base-url', target.url],
    ],
  },
  'models update': { words: async (scene) => [await scene.model(), '--no-vision'] },
  'models delete': { words: async (scene) => [await scene.model(), '--yes'] },
  'models default': { words: () => ['digest'] },
  'models test': { words: () => ['digest'], isText: true },
  'models health': {},
  'models known': { words: () => ['anthropic'] },
  'models available': { words: ({ target }) => ['ollama', '--base-url', target.url], exit: 1 },
  'models usage': { needs: (scene) => scene.agent() },
  'models routing get': {},
  'models routing set': { words: ({ name }) => [name(), '--primary', 'digest'] },
  'models routing remove': {
    words: async ({ ada, name }) => {
      const topic = name();
      const { topics } = await ada.client.models.routing();
      const route = { topic, primary: 'digest', fallbacks: [] };
      await ada.client.models['set-routing']({ body: { topics: [...topics, route] } });
      return [topic];
    },
    json: 'its own',
  },
  'models cli status': {},
  'models cli quota': {},
  'vault list': { needs: (scene) => credential(scene) },
  'vault get': { words: async (scene) => [await credential(scene)] },
  'vault add': { words: ({ name }) => [name(), '--value-file', '-'], stdin: 'a value' },
  'vault update': { words: async (scene) => [await credential(scene), '--description', 'Mine'] },
  'vault rotate': { words: async (scene) => [await credential(scene), '--generate'] },
  'vault versions': { words: async (scene) => [await credential(scene)] },
  'vault restore': { words: (scene) => rotated(scene) },
  'vault reveal': {
    words: async (scene) => [await credential(scene), '--password-file', '-'],
    stdin: 'correct horse battery',
  },
  'vault delete': { words: async (scene) => [await credential(scene), '--yes'] },
  'vault rekey': { words: () => ['--yes'] },
  'webhooks list': { needs: (scene) => outgoing(scene) },
  'webhooks get': { words: outgoingId },
  'webhooks create': {
    words: ({ name, target }) => [name(), target.url, '--events', 'hook.failed'],
  },
  'webhooks update': { words: async (scene) => [...(await outgoingId(scene)), '--events', '*'] },
  'webhooks delete': { words: async (scene) => [...(await outgoingId(scene)), '--yes'] },
  'webhooks enable': { words: outgoingId },
  'webhooks disable': { words: outgoingId },
  'webhooks deliveries': { words: outgoingId },
  'webhooks resend': {
    words: async (scene) => {
      const { id, deliveryId } = await outgoing(scene);
      return [id, deliveryId];
    },
  },
  'webhooks test': { words: outgoingId },
  'webhooks rotate-secret': { words: outgoingId },
  'operations list': { needs: (scene) => completed(scene) },
  'operations watch': { words: async (scene) => [await completed(scene)] },
  'operations cancel': { words: async (scene) => [await waiting(scene)] },
  'notifications list': { needs: (scene) => told(scene) },
  'notifications read': { words: async (scene) => [await told(scene)] },
  'notifications read-all': {},
  'notifications watch': { until: /Listening/, json: 'lines', exit: 130 },
  'notifications sendings': { words: async (scene) => [await told(scene)] },
  'notifications preferences': { words: () => ['--digest', '10m'] },
  'channels list': { needs: (scene) => channel(scene) },
  'channels link': {},
  'channels add': { words: topic },
  'channels setup': { words: () => ['slack', '--manifest'], json: 'its own', isText: true },
  'channels create': { words: ({ target, name }) => [target.url, '--name', name()] },
  'channels verify': {
    words: async (scene) => {
      const { id, code } = await addressed(scene);
      return [id, code];
    },
  },
  'channels test': { words: async (scene) => [await verified(scene)] },
  'channels delete': { words: async (scene) => [(await channel(scene)).id, '--yes'] },
  'platforms list': {},
  'platforms get': { words: () => ['slack'], json: 'its own' },
  'platforms set': {
    words: () => ['telegram', '--webhook-secret-file', '-'],
    stdin: 'a-secret_of-our-own-choice-of-32-signs',
  },
  'platforms test': { words: async (scene) => [await telegram(scene)], exit: 1 },
  'platforms install': { words: async (scene) => [await telegram(scene)], exit: 1 },
  'platforms delete': { words: async (scene) => [await telegram(scene), '--yes'] },
  'outbox list': { needs: (scene) => lost(scene) },
  'outbox resend': { words: async (scene) => [await lost(scene)] },
};
