const { startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;
const byId = (id) => document.getElementById(id);

/** Kept only here, so a reload loses it. */
let token = null;
/** The program on this machine that waits for the login, from `#cli=<port>.<state>.<challenge>`. */
let waiting = null;

const start = () => {
  if (/^(127\.[\d.]+|\[::1\])$/.test(location.hostname)) {
    // Browsers allow passkeys only for host names; the name of this machine is `localhost`.
    const { port, pathname, hash } = location;
    return location.replace(`http://localhost:${port}${pathname}${hash}`);
  }
  readAddress();
  addEventListener('hashchange', readAddress);
  byId('place').textContent = `at ${location.host}`;
  byId('name').value = browserName();
  on('use-passkey', 'click', usePasskey);
  on('password-form', 'submit', usePassword);
  on('add-form', 'submit', addPasskey);
  on('continue', 'click', handOver);
  on('refuse', 'click', refuse);
  on('log-out', 'click', logOut);
};

/** Servers do not see the fragment of an address. */
const readAddress = () => {
  waiting = waitingIn(location.hash);
  history.replaceState(null, '', location.pathname);
  show();
};

const waitingIn = (hash) => {
  const found = /^#cli=(\d{1,5})\.([\w-]{20,100})\.([\w-]{43})$/.exec(hash);
  const port = Number(found?.[1]);
  return found && port >= 1024 && port <= 65535
    ? { port, state: found[2], challenge: found[3] }
    : null;
};

const browserName = () => {
  const system = /Windows|Mac OS X|Android|iPhone|iPad|CrOS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${system.replace(' OS X', '')} browser` : 'This browser';
};

/** Only one action runs at a time. */
const on = (id, eventName, act) => {
  byId(id).addEventListener(eventName, async (event) => {
    event.preventDefault();
    await attempt(act);
  });
};

const attempt = async (act) => {
  const buttons = [...document.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  say('');
  try {
    await act();
  } catch (error) {
    say(reasonOf(error), true);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
};

const usePasskey = async () => {
  const path = '/api/auth/passkey/authenticate';
  const { options, challengeId } = await api('POST', path, {});
  const response = await startAuthentication({ optionsJSON: options });
  const known = deviceTokenOf();
  await signIn(await api('POST', path, { challengeId, response, ...known }));
};

const usePassword = async () => {
  const code = byId('code').value.trim();
  try {
    const username = byId('username').value;
    const login = await api('POST', '/api/auth/login', {
      username,
      password: byId('password').value,
      ...(code && { totpCode: code }),
      ...deviceTokenOf(username),
    });
    await signIn(login, username);
  } catch (error) {
    if (error.code !== 'totp_required') throw error;
    byId('code-field').hidden = false;
    byId('code').focus();
    say('Enter the code as well.');
  }
};

const addPasskey = async () => {
  const password = byId('confirm').value;
  try {
    const path = '/api/auth/passkey/register';
    const { options } = await api('POST', path, password ? { password } : {});
    const response = await startRegistration({ optionsJSON: options });
    const { passkey } = await api('POST', path, { response, name: byId('name').value });
    await showPasskeys();
    say(`Passkey added: ${passkey.name}`);
  } catch (error) {
    if (error.code !== 'password_required') throw error;
    byId('confirm-field').hidden = false;
    byId('confirm').focus();
    say(error.message);
  }
};

/** Called only on a click. The code goes to this machine, and is worthless without the verifier there. */
const handOver = async () => {
  const { port, state, challenge } = waiting;
  const { code } = await api('POST', '/api/auth/passkey/grant', { challenge });
  token = null;
  location.replace(`http://127.0.0.1:${port}/?${new URLSearchParams({ code, state })}`);
};

const logOut = async () => {
  await api('POST', '/api/auth/logout');
  token = null;
  show();
};

const refuse = () => {
  waiting = null;
  show();
};

const DEVICES = 'adjutant.devices';

/** Kept for the next login, so that the daemon recognizes the device. It logs nobody in. */
const keepDeviceToken = (names, deviceToken) => {
  const kept = devices();
  for (const name of names.map(nameKey)) {
    delete kept[name];
    kept[name] = deviceToken;
  }
  localStorage.setItem(DEVICES, JSON.stringify(kept));
};

/** Without a name, returns the token that was kept last. */
const deviceTokenOf = (name) => {
  const kept = devices();
  const deviceToken = name === undefined ? Object.values(kept).at(-1) : kept[nameKey(name)];
  return deviceToken ? { deviceToken } : {};
};

const nameKey = (name) => name.normalize('NFKC').toLowerCase();

const devices = () => {
  try {
    return JSON.parse(localStorage.getItem(DEVICES)) ?? {};
  } catch {
    return {};
  }
};

const signIn = async (login, typed = login.user.username) => {
  token = login.token;
  if (login.deviceToken) keepDeviceToken([typed, login.user.username], login.deviceToken);
  byId('who').textContent = login.user.username;
  for (const id of ['password', 'code', 'confirm']) byId(id).value = '';
  await showPasskeys();
  show();
};

const show = () => {
  byId('signed-out').hidden = token !== null;
  byId('signed-in').hidden = token === null;
  byId('handover').hidden = waiting === null || token !== null;
  byId('confirm-handover').hidden = waiting === null;
};

const showPasskeys = async () => {
  const { passkeys } = await api('GET', '/api/auth/passkeys?limit=200');
  byId('list').replaceChildren(...passkeys.map(rowOf));
};

const rowOf = (passkey) => {
  const row = document.createElement('li');
  const label = document.createElement('span');
  const detail = document.createElement('small');
  const remove = document.createElement('button');
  label.textContent = passkey.name;
  detail.textContent = passkey.works ? usedAt(passkey) : `works only at ${passkey.relyingParty}`;
  label.append(detail);
  remove.type = 'button';
  remove.textContent = 'Delete';
  remove.addEventListener('click', () =>
    attempt(async () => {
      if (!confirm(`Delete "${passkey.name}"? You can no longer log in with it.`)) return;
      await api('DELETE', `/api/auth/passkeys/${encodeURIComponent(passkey.id)}`);
      await showPasskeys();
    }),
  );
  row.append(label, remove);
  return row;
};

const usedAt = ({ lastUsedAt, createdAt }) =>
  lastUsedAt
    ? `last used ${new Date(lastUsedAt).toLocaleString()}`
    : `added ${new Date(createdAt).toLocaleString()}`;

const api = async (method, path, body) => {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const reply = text && JSON.parse(text);
  if (!response.ok) throw Object.assign(new Error(reply.message), { code: reply.code });
  return reply;
};

const say = (text, isFailure = false) => {
  byId('message').textContent = text;
  byId('message').classList.toggle('failed', isFailure);
};

/** By the name of the error that the browser throws. */
const REASONS = {
  NotAllowedError: 'The request was cancelled or timed out, or there is no passkey on this device.',
  InvalidStateError: 'This device already has a passkey for your account.',
  NotSupportedError: 'This browser or device cannot create such a passkey.',
  SecurityError: 'The browser does not allow passkeys at this address.',
};

const reasonOf = (error) => REASONS[error.name] ?? error.message;

start();
