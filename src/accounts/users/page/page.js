const byId = (id) => document.getElementById(id);
const form = byId('form');
/** A reset has no username. */
const fields = ['username', 'password'].filter(byId);

/** Kept only here, so a reload loses it. */
let token = '';

const start = () => {
  byId('place').textContent = `at ${location.host}`;
  byId('passkeys').hidden = !isSecureContext;
  byId('shown').addEventListener('change', ({ target }) => {
    byId('password').type = target.checked ? 'text' : 'password';
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    await submit();
  });
  addEventListener('hashchange', readAddress);
  readAddress();
};

/** Servers do not see the fragment of an address. */
const readAddress = () => {
  if (token && !location.hash) return;
  token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  const isComplete = /^[\w-]{43}$/.test(token);
  byId('ask').hidden = !isComplete;
  byId('done').hidden = true;
  say(isComplete ? '' : 'This link is incomplete. Open it again from the original message.');
};

const submit = async () => {
  const values = Object.fromEntries(fields.map((name) => [name, byId(name).value]));
  if (show(faultsOf(values))) return;
  const button = form.querySelector('button');
  button.disabled = true;
  say('');
  try {
    await finish(await post(form.dataset.call, { ...values, inviteToken: token }));
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
};

/** An early check with friendly messages. The daemon checks everything again. */
const faultsOf = (values) =>
  fields
    .map((path) => ({ path, message: RULES[path](values[path]) }))
    .filter(({ message }) => message);

const RULES = {
  username: (name) => {
    if (name.length < 3) return 'At least 3 characters.';
    return /^[\p{L}\p{N}._-]+$/u.test(name) ? '' : 'Only letters, digits, “.”, “_” and “-”.';
  },
  password: (password) => (password.length < 8 ? 'At least 8 characters.' : ''),
};

/** Shows each error at its field and focuses the first. Returns true if there is one. */
const show = (faults) => {
  for (const name of fields) {
    const fault = faults.find(({ path }) => path === name);
    byId(`${name}-error`).textContent = fault?.message ?? '';
    byId(name).setAttribute('aria-invalid', String(fault !== undefined));
  }
  const first = fields.find((name) => faults.some(({ path }) => path === name));
  if (first) byId(first).focus();
  return first !== undefined;
};

const explain = ({ message, code, details = [] }) => {
  const isLost = code === 'invite_refused' || code === 'registration_closed';
  if (isLost) byId('ask').hidden = true;
  const faults = details.map((each) => (code === 'username_taken' ? TAKEN : each));
  if (!show(faults)) say(`${message}.`.replace(/([.!?])\.$/, '$1'));
};
const TAKEN = { path: 'username', message: 'This name is already in use. Choose another.' };

const finish = async ({ username, user, token: session }) => {
  const name = username ?? user.username;
  byId('who').textContent = name;
  byId('command').textContent = `adjutant login ${name} --server ${location.origin}`;
  byId('ask').hidden = true;
  byId('done').hidden = false;
  byId('done-title').focus();
  token = '';
  form.reset();
  // The user does not continue on this page, so the login session of the new account is ended.
  if (session) await post('/api/auth/logout', undefined, session).catch(() => undefined);
  await offerPage();
};

/** Also in web/state/loginkey.ts. */
const LOGIN_KEY = 'adjutant.login-key';

/** Only if the daemon serves the page at `/` and nobody is logged in there. A reset has no link. */
const offerPage = async () => {
  const link = byId('page');
  if (!link || localStorage.getItem(LOGIN_KEY) !== null) return;
  const manifest = await fetch('/page/manifest.webmanifest').catch(() => null);
  link.hidden = manifest?.ok !== true;
};

const post = async (path, body, session) => {
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(session && { authorization: `Bearer ${session}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error('Adjutant does not respond. Try again in a moment.');
  });
  const text = await response.text();
  const reply = text && JSON.parse(text);
  if (response.ok) return reply;
  throw Object.assign(new Error(reply.message), { code: reply.code, details: reply.details });
};

const say = (text) => {
  byId('message').textContent = text;
};

start();
