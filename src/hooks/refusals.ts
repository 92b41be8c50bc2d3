import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Http } from '../kernel/http.js';
import type { FieldFault } from '../kernel/problem.js';
import { throwIfFaults } from '../kernel/route.js';
import type { GrantRule } from '../permissions/module.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { HooksDeps } from './deps.js';
import { type GrantingHook, hookTools, newlyGrantedTools } from './grants.js';
import type { TriggerConfig } from './hook.js';
import type { HooksStore } from './queries.js';
import { type CheckedHook, hookFaults } from './rules.js';
import { createSignatureRecipe } from './senders/open.js';
import { isKeyPublic } from './senders/recipe.js';
import { withoutPlaceholders } from './template.js';

/** Per user. */
const HOOKS_PER_PATH = 100;

/** Tools that the hook already had are not checked. */
export const refuseHookFaults = (
  { named, http }: HooksDeps,
  userId: string,
  hook: CheckedHook,
  { areToolsKept } = { areToolsKept: false },
): void => {
  const faults = hookFaults(
    hook,
    userId,
    areToolsKept ? { ...named, faultsOfTools: () => [] } : named,
  );
  const { webhookUrl, reply } = hook.actionConfig;
  if (hook.action === 'webhook' && webhookUrl) {
    faults.push(...urlFaults(http, 'webhookUrl', withoutPlaceholders(webhookUrl)));
  }
  if (reply?.url) faults.push(...urlFaults(http, 'reply.url', withoutPlaceholders(reply.url)));
  throwIfFaults(faults);
};

export const refusePipelineFaults = async (
  { named }: HooksDeps,
  userId: string,
  { action, actionConfig }: Pick<CheckedHook, 'action' | 'actionConfig'>,
): Promise<void> => {
  if (action !== 'start_pipeline') return;
  const { templateId, params } = actionConfig;
  const start = { templateId, params, isRendered: true } as const;
  const { faults } = await named.pipelines.check(userId, start);
  throwIfFaults(faults.map(({ path, message }) => ({ path: `actionConfig.${path}`, message })));
};

/** Tools granted earlier stay granted as long as purpose and trigger stay the same. */
export const refuseGrants = (
  { grants }: HooksDeps,
  by: Caller,
  before: GrantingHook | null,
  after: GrantingHook,
): void =>
  grants.refuse(
    by,
    newlyGrantedTools((names) => grants.acting(by.userId, names), before, after),
  );

export interface FiringDeps {
  grants: GrantRule;
  hooks: Pick<HooksStore, 'grantedTools'>;
  clock: Clock;
}

/** Throws if an impersonating admin fires or replays a hook with granted tools. */
export const refuseFiring = async (
  { grants, hooks, clock }: FiringDeps,
  by: Caller,
  hook: HookRow,
): Promise<void> => {
  if (!by.impersonator) return;
  const own = hookTools({ action: hook.action, actionConfig: JSON.parse(hook.action_config) });
  grants.refuseUse(by, [...own, ...(await hooks.grantedTools(hook, iso(clock.now())))]);
};

/** `before`: the current path, if any. */
export const refusePath = (
  deps: HooksDeps,
  { userId, before }: { userId: string; before: string | null },
  { trigger, triggerConfig = {} }: Pick<CheckedHook, 'trigger' | 'triggerConfig'>,
): void => {
  const { webhookPath } = triggerConfig;
  if (webhookPath !== before) refuseTooManyHooks(deps, userId, webhookPath);
  if (trigger === 'webhook') refuseSharedPath(deps, userId, triggerConfig);
};

/** Every delivery costs an HMAC for each hook on the path, whoever sent it. */
const refuseTooManyHooks = (
  { directory }: HooksDeps,
  userId: string,
  path: string | undefined,
): void => {
  if (path === undefined) return;
  const own = directory.onPath(path).filter((hook) => hook.userId === userId);
  if (own.length < HOOKS_PER_PATH) return;
  throw Boom.conflict(
    `You already have ${HOOKS_PER_PATH} hooks on this path, the maximum. Delete one of the hooks, or choose another webhookPath`,
  );
};

/** A public key is not a secret, so one user could read the deliveries of the other. */
const refuseSharedPath = (
  { directory }: HooksDeps,
  userId: string,
  { webhookPath, verify }: TriggerConfig,
): void => {
  if (
    webhookPath === undefined ||
    verify === undefined ||
    !isKeyPublic(createSignatureRecipe(verify))
  )
    return;
  const isShared = directory
    .onPath(webhookPath)
    .some((hook) => hook.userId !== userId && hook.sender && isKeyPublic(hook.sender.recipe));
  if (!isShared) return;
  throw Boom.conflict(
    'Another user has a hook with a public key on this path. Choose another webhookPath',
    { code: 'path_taken' },
  );
};

const urlFaults = (http: Http, field: string, url: string): FieldFault[] => {
  try {
    http.check(url);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ path: `actionConfig.${field}`, message }];
  }
};
