/** Policy for the only script whose URL is set by code, for `require-trusted-types-for`. */
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
    /** W3C Trusted Types, in Chromium and Safari. Elsewhere strings are accepted. */
    trustedTypes?: TrustedTypes;
  }
}

/** Registers the service worker for push notifications. Resolves to null if that is impossible. */
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
