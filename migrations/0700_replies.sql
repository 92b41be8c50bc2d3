-- JSON: what a model had read when it gave a reply, and the reasoning that it needs back.
ALTER TABLE messages ADD COLUMN generation TEXT;
-- A sentence about the result of an agent, such as that it was cut off.
ALTER TABLE agents ADD COLUMN note TEXT;
