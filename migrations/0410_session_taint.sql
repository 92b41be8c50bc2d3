-- Every agent of a session reads its messages, so what one of them read taints all.
UPDATE agents SET untrusted = 1
  WHERE untrusted = 0 AND session_id IN (SELECT id FROM sessions WHERE untrusted = 1);
