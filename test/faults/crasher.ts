/** Loaded into a daemon before it starts: errors at a signal, with secrets in them as libraries put them. */
const secret = process.env.CANARY ?? '';

const createFailure = (): Error => {
  const request = { headers: { authorization: `Bearer ${secret}` }, body: { value: secret } };
  const cause = Object.assign(new Error('The answer was odd'), { request, responseBody: secret });
  const error = new Error('It broke', { cause });
  return Object.assign(error, { _original: request.body, request, code: 'E_ODD' });
};

process.on('SIGUSR2', () => {
  throw createFailure();
});
process.on('SIGWINCH', () => {
  void Promise.reject(createFailure());
});
process.on('SIGCONT', () => {
  throw { thrown: secret };
});
