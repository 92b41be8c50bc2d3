import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { KnowledgeAmount } from '../knowledge/module.js';
import type { Vault } from '../vault/module.js';
import type { ModelHealths } from './health.js';
import type { ReadLlamaFacts } from './llamafacts.js';
import type { OpenModel } from './open.js';
import type { ModelsStore } from './queries.js';
import type { Registry } from './registry.js';

export interface ModelsDeps {
  models: ModelsStore;
  registry: Registry;
  modelHealth: ModelHealths;
  openModel: OpenModel;
  clock: Clock;
  http: Pick<Http, 'check'>;
  keys: Pick<Vault, 'isOwn' | 'newest'> & {
    seal(id: string, key: string): string;
  };
  amountOfTexts(): Promise<KnowledgeAmount>;
  llamaFacts: ReadLlamaFacts;
}
