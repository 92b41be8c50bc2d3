/** Loaded into a daemon before it starts: what breaks it at a signal, laden as libraries do it. */
const secret = process.env.CANARY ?? '';

const laden = (): Error => {
  const request = { headers: { authorization: `Bearer ${secret}` }, body: { value: secret } };
  const cause = Object.assign(new Error('The answer was odd'), { request, responseBody: secret });
  const error = new Error('It broke', { cause });
  return Object.assign(error, { _original: request.body, request, code: 'E_ODD' });
};

process.on('SIGUSR2', () => {
  throw laden();
});
process.on('SIGWINCH', () => {
  void Promise.reject(laden());
});
process.on('SIGCONT', () => {
  throw { thrown: secret };
});
