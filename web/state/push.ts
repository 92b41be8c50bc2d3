import { ask, RequestError } from './api.js';
import { deviceName } from './device.js';

export type PushState =
  | { is: 'on'; id: string }
  | { is: 'off' }
  | { is: 'impossible'; reason: string };

/** Storage key of the subscription id of this browser. */
const KEY = 'adjutant.push';

interface AppleNavigator extends Navigator {
  /** True in a page opened from the home screen of an iPhone or iPad. */
  standalone?: boolean;
}

/** Reason why this browser cannot receive push notifications. `null` if it can. */
const pushUnavailableReason = (): string | null => {
  if (!isSecureContext) {
    return 'Push notifications need https. Open this page at the public address of the daemon.';
  }
  const { standalone, userAgent }: AppleNavigator = navigator;
  if (standalone === false && /iPhone|iPad/.test(userAgent)) {
    return 'On an iPhone or iPad, push notifications work only from the home screen. Choose Share, then Add to Home Screen, and open the page from there.';
  }
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    return 'This browser does not support Web Push, or this is a private window.';
  }
  if (Notification.permission === 'denied') {
    return 'Notifications are blocked for this site. Allow them in the browser settings.';
  }
  return null;
};

/** Checks the subscription of this browser, locally and at the daemon. */
export const readPush = async (signal: AbortSignal): Promise<PushState> => {
  const reason = pushUnavailableReason();
  if (reason !== null) return { is: 'impossible', reason };
  const registration = await navigator.serviceWorker.getRegistration();
  if (!registration) {
    return { is: 'impossible', reason: 'The browser rejected the service worker of this page.' };
  }
  const subscription = await registration.pushManager.getSubscription();
  const id = localStorage.getItem(KEY);
  if (!subscription || id === null) return { is: 'off' };
  const query = { limit: 200 };
  const { subscriptions } = await ask('GET', '/api/push/subscriptions', { query }, signal);
  return subscriptions.some((each) => each.id === id) ? { is: 'on', id } : { is: 'off' };
};

/** Asks for permission, subscribes at the push service, and registers at the daemon. */
export const turnPushOn = async (): Promise<PushState> => {
  if ((await Notification.requestPermission()) !== 'granted') {
    return { is: 'impossible', reason: 'You did not allow notifications for this site.' };
  }
  const { publicKey } = await ask('GET', '/api/push/key');
  const registration = await navigator.serviceWorker.ready;
  // A subscription with another key of the daemon is useless.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: decodeBase64Url(publicKey),
  });
  const { endpoint, keys } = subscription.toJSON();
  if (!endpoint || !keys?.p256dh || !keys.auth) {
    throw new RequestError(
      'The browser returned an incomplete push subscription. Try again',
      0,
      undefined,
    );
  }
  const body = {
    endpoint,
    keys: { p256dh: keys.p256dh, auth: keys.auth },
    name: deviceName(),
  };
  const { id } = await ask('POST', '/api/push/subscriptions', { body });
  localStorage.setItem(KEY, id);
  return { is: 'on', id };
};

export const turnPushOff = async (id: string): Promise<PushState> => {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  localStorage.removeItem(KEY);
  try {
    await ask('DELETE', '/api/push/subscriptions/{id}', { id });
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 404) throw error;
  }
  return { is: 'off' };
};

/** Turns off push notifications of this browser. A failure must not prevent the logout. */
export const turnPushOffHere = async (): Promise<void> => {
  try {
    const id = localStorage.getItem(KEY);
    if (id !== null) await turnPushOff(id);
  } catch {
    // The daemon drops a subscription that the push service no longer knows.
  }
};

const decodeBase64Url = (base64url: string): Uint8Array<ArrayBuffer> => {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
};
