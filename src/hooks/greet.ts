import type { OpenedHook } from './hook.js';
import { recipeOf } from './senders/open.js';
import { GITHUB_GREETING } from './senders/presets.js';

/** The part of a delivery that tells a greeting. */
interface NamedDelivery {
  event: string | null;
  headers: Record<string, string>;
}

/**
 * Returns why a delivery is no event for the hook: its sender greets the new address with it. Null:
 * it is one, or a condition of the hook decides about events by itself.
 */
export const greetingReason = (
  { triggerConfig: { verify }, conditions }: OpenedHook,
  { event, headers }: NamedDelivery,
): string | null => {
  const isUnnamed = verify === undefined;
  const greeting = isUnnamed ? GITHUB_GREETING : recipeOf(verify).greeting;
  if (!greeting || event !== greeting.event) return null;
  if (isUnnamed && headers['x-github-event'] === undefined) return null;
  if (conditions.some(({ field }) => field === 'event')) return null;
  return `test event from ${greeting.sender}`;
};
