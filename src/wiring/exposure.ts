import type { Config } from '../config.js';
import type { Exposure } from '../resources/auth/rules.js';

/** What decides who may register. */
export const exposureOf = ({
  registration,
  host,
  publicUrl,
  trustedProxies,
}: Config): Exposure => ({
  registration,
  host,
  publicUrl,
  trustedProxies,
});
