/** Policy of the one script that the page names by its address, for `require-trusted-types-for`. */
const POLICY = 'adjutant';
const WORKER_PATH = '/sw.js';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

declare global {
  interface Window {
    /** W3C Trusted Types. Chromium and Safari have it; elsewhere strings are taken as they are. */
    trustedTypes?: TrustedTypes;
  }
}

/** Registers the service worker, which shows pushes; resolves to null where there can be none. */
export const registerWorker = async (): Promise<ServiceWorkerRegistration | null> => {
  if (!('serviceWorker' in navigator)) return null;
  const rules = { createScriptURL: () => WORKER_PATH };
  const policy = window.trustedTypes?.createPolicy(POLICY, rules) ?? rules;
  try {
    return await navigator.serviceWorker.register(policy.createScriptURL(WORKER_PATH));
  } catch {
    return null;
  }
};
