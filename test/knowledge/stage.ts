import { startApp, type TestApp, type TestOptions, until, untilMatches } from '../harness/app.js';
import type { FakeEmbedder } from '../harness/embedder.js';

/** A daemon with an admin, and what tests of embedders do with it. */
export const startKnowledge = async (options: TestOptions = {}) => {
  const app = await startApp(options);
  const { id, token } = await app.register('ada');
  return knowledgeStage(app, { id, token });
};

export const knowledgeStage = (app: TestApp, user: { id: string; token: string }) => {
  const ask = (method: string, path: string, body?: object, token = user.token) =>
    app.call(method, path, { token, ...(body && { body }) });
  const get = async (path: string) => (await ask('GET', path)).body;
  const stage = {
    app,
    user,
    ask,
    get,
    stats: () => get('/api/knowledge/stats'),
    search: async (query: string, more: object = {}) =>
      (await ask('POST', '/api/knowledge/search', { query, ...more })).body,
    /** The ids of the entries that a search finds. */
    find: async (query: string, more: object = {}): Promise<string[]> => {
      const { results = [] } = await stage.search(query, more);
      return results.map(({ entryId }: { entryId: string }) => entryId);
    },
    /** Keeps a note; resolves to its id once words find it. */
    keep: async (text: string): Promise<string> => {
      const { body } = await ask('POST', '/api/knowledge', { text });
      await untilMatches(() => get(`/api/knowledge/${body.id}`), { status: 'ready' });
      return body.id;
    },
    /** Registers a model that makes vectors. */
    addModel: (name: string, embedder: FakeEmbedder, more: object = {}) => {
      const { provider, baseUrl } = embedder;
      const model = { name, provider, modelId: 'fake-embed', baseUrl };
      return ask('POST', '/api/models', { ...model, embedding: { dimensions: 256 }, ...more });
    },
    route: (name: string | null, confirm = true) => {
      const topics = name === null ? [] : [{ topic: 'embeddings', primary: name }];
      return ask('PUT', '/api/models/routing', { topics, ...(confirm && { confirm }) });
    },
    /** Waits until all texts have vectors. */
    embedded: () => until(stage.stats, ({ embedding }) => embedding.pending === 0),
    stop: app.stop,
  };
  return stage;
};

export type KnowledgeStage = ReturnType<typeof knowledgeStage>;
