import Boom from '@hapi/boom';
import type { Caller } from '../../kernel/endpoint.js';
import type { Fault } from '../../kernel/problem.js';
import { refuseFaults } from '../../kernel/route.js';
import { type GrantingAction, grantedAnew } from '../../runtime/permissions/grants.js';
import { faultsOf } from './rules.js';
import type { HooksDeps } from './service.js';

type RefusalDeps = Pick<
  HooksDeps,
  'checkUrl' | 'directory' | 'faultsOfTools' | 'grants' | 'models'
>;

/** Ours: of one user. */
const HOOKS_PER_PATH = 100;

/** Refuses a hook that could not work, with each field that is wrong. */
export const check = (deps: RefusalDeps, hook: Parameters<typeof faultsOf>[0]): void => {
  const faults = faultsOf(hook, { ...deps, models: deps.models() });
  const { webhookUrl } = hook.actionConfig;
  if (hook.action === 'webhook' && webhookUrl) faults.push(...urlFaults(deps, webhookUrl));
  refuseFaults(faults);
};

/** What the hook granted before stays granted, whoever changes the rest of it. */
export const refuseGrants = (
  { grants }: RefusalDeps,
  by: Caller,
  before: GrantingAction | null,
  after: GrantingAction,
): void => grants.refuse(by, grantedAnew(grants.acting, before, after));

/** Every delivery costs an HMAC per hook on its path, whoever made them. */
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

const urlFaults = ({ checkUrl }: RefusalDeps, url: string): Fault[] => {
  try {
    checkUrl(url);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ path: 'actionConfig.webhookUrl', message }];
  }
};
