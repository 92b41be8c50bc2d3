import type { Http } from '../kernel/http.js';
import type { GrantRule } from '../permissions/module.js';
import type { RotationDeps } from '../secrets/module.js';
import type { Vault } from '../vault/module.js';
import type { HookDeletion } from './deletion.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { CheckMailFolder } from './mailfolder.js';
import type { HooksStore } from './queries.js';
import type { KnownReferences } from './rules.js';

export interface HooksDeps extends RotationDeps {
  hooks: HooksStore & { deletion: HookDeletion };
  directory: Directory;
  http: Http;
  vault: Vault;
  named: KnownReferences;
  grants: GrantRule;
  checkMailFolder: CheckMailFolder;
}
