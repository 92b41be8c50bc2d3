import Boom from '@hapi/boom';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { FieldFault } from '../kernel/problem.js';
import { refuseFaults } from '../kernel/route.js';
import type { HookRow } from '../store/tables/hooks.js';
import { type GrantingHook, grantedAnew, hookTools } from './grants.js';
import { hookFaults } from './rules.js';
import type { HooksDeps } from './service.js';

type RefusalDeps = Pick<
  HooksDeps,
  'checkUrl' | 'directory' | 'faultsOfTools' | 'grants' | 'models'
>;

/** The maximum number of hooks of one user on one path. The limit is ours. */
const HOOKS_PER_PATH = 100;

/** Throws if a hook could not work, with each field that is wrong. */
export const refuseHookFaults = (
  deps: RefusalDeps,
  hook: Parameters<typeof hookFaults>[0],
): void => {
  const faults = hookFaults(hook, { ...deps, models: deps.models() });
  const { webhookUrl } = hook.actionConfig;
  if (hook.action === 'webhook' && webhookUrl) faults.push(...urlFaults(deps, webhookUrl));
  refuseFaults(faults);
};

/**
 * Throws if the caller may not grant the hook's tools. Tools that the hook granted before stay
 * granted, as long as its purpose and trigger stay the same.
 */
export const refuseGrants = (
  { grants }: RefusalDeps,
  by: Caller,
  before: GrantingHook | null,
  after: GrantingHook,
): void => grants.refuse(by, grantedAnew(grants.acting, before, after));

/**
 * Throws if an admin who acts as the owner fires or replays a hook to which the owner granted
 * tools.
 */
export const refuseFiring = (
  { grants }: Pick<RefusalDeps, 'grants'>,
  by: Caller,
  { action, action_config }: HookRow,
): void => grants.refuseUse(by, hookTools({ action, actionConfig: JSON.parse(action_config) }));

/**
 * Throws if the user has too many hooks on the path: every delivery costs an HMAC for each hook
 * there, whoever sent it.
 */
export const refuseCrowd = (
  { directory }: RefusalDeps,
  userId: string,
  path: string | undefined,
): void => {
  if (path === undefined) return;
  const own = directory.onPath(path).filter((hook) => hook.userId === userId);
  if (own.length < HOOKS_PER_PATH) return;
  throw Boom.conflict(
    `You have ${HOOKS_PER_PATH} hooks on this path already, the most there may be`,
  );
};

const urlFaults = ({ checkUrl }: RefusalDeps, url: string): FieldFault[] => {
  try {
    checkUrl(url);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ path: 'actionConfig.webhookUrl', message }];
  }
};
