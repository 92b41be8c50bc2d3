const byId = (id) => document.getElementById(id);

const LOGIN_KEY = 'adjutant.login-key';
/** The form of the key that opens the cookie of the page. */
const PAGE_KEY = /^[\w-]{43}$/;
/** Set while a login that this page started is under way. */
const STARTED = 'adjutant.sso-started';

const start = async () => {
  byId('place').textContent = `at ${location.host}`;
  byId('start').addEventListener('submit', (event) => {
    event.preventDefault();
    begin(byId('org').value.trim().toLowerCase());
  });
  const hash = new URLSearchParams(location.hash.slice(1));
  const org = new URLSearchParams(location.search).get('org');
  history.replaceState(null, '', location.pathname);
  try {
    if (hash.has('code')) await finish(hash.get('code'), programIn(hash.get('cli')));
    else if (hash.has('linked'))
      say('The account is linked. You can now log in with single sign-on.');
    else if (hash.has('cli')) beginForProgram(org, hash.get('cli'));
    else showForm(org);
  } catch (error) {
    showForm(org);
    say(error.message, true);
  }
};

const showForm = (org) => {
  byId('start').hidden = false;
  byId('org').value = org ?? '';
};

const begin = (org, returnTo = '/') => {
  sessionStorage.setItem(STARTED, '1');
  location.assign(`/api/saml/login?${new URLSearchParams({ org, returnTo })}`);
};

/** `cli` is `<port>.<state>.<challenge>` of a program on this machine (RFC 8252). */
const beginForProgram = (org, cli) => {
  if (!programIn(cli) || !org) throw new Error('The address is not complete. Open it again.');
  begin(org, `/sso#cli=${cli}`);
};

const programIn = (cli) => {
  const found = /^(\d{1,5})\.([\w-]{20,100})\.([\w-]{43})$/.exec(cli ?? '');
  const port = Number(found?.[1]);
  return found && port >= 1024 && port <= 65535
    ? { port, state: found[2], challenge: found[3] }
    : null;
};

const finish = async (code, program) => {
  const isOwn = sessionStorage.getItem(STARTED) !== null;
  sessionStorage.removeItem(STARTED);
  const login = await redeem(code, program !== null, isOwn);
  if (!login) return say('Nothing was changed. You can close this page.');
  if (program) return handOver(program, login);
  if (!PAGE_KEY.test(login.token)) {
    await api('/api/auth/logout', undefined, { authorization: `Bearer ${login.token}` });
    throw new Error('The web page of this daemon is turned off.');
  }
  localStorage.setItem(LOGIN_KEY, login.token);
  location.replace(login.returnTo);
};

/**
 * Returns null if the user does not confirm a login that this page did not start: another site may
 * have started it, to an account of its own.
 */
const redeem = async (code, isForProgram, isOwn) => {
  // Without the header, the page receives the token itself, which is not stored.
  const headers = isForProgram ? {} : { 'x-adjutant-page': '1' };
  try {
    const body = { code, ...(!isOwn && { confirmed: false }) };
    return await api('/api/saml/session', body, headers);
  } catch (error) {
    if (error.code !== 'confirmation_required') throw error;
    if (!(await ask(error.message))) return null;
    return api('/api/saml/session', { code, confirmed: true }, headers);
  }
};

const handOver = async ({ port, state, challenge }, { token, user }) => {
  const headers = { authorization: `Bearer ${token}` };
  const question =
    `A program on this machine asks to log in as ${user.username}. ` +
    'Did you just run adjutant login --sso?';
  if (!(await ask(question))) {
    await api('/api/auth/logout', undefined, headers);
    return say('Nothing was changed. You can close this page.');
  }
  const { code } = await api('/api/auth/passkey/grant', { challenge }, headers);
  location.replace(`http://127.0.0.1:${port}/?${new URLSearchParams({ code, state })}`);
};

const ask = (question) =>
  new Promise((resolve) => {
    byId('question').textContent = question;
    byId('confirm').hidden = false;
    const settle = (answer) => () => {
      byId('confirm').hidden = true;
      resolve(answer);
    };
    byId('continue').addEventListener('click', settle(true), { once: true });
    byId('refuse').addEventListener('click', settle(false), { once: true });
  });

const api = async (path, body, headers) => {
  const response = await fetch(path, {
    method: 'POST',
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
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

void start();
