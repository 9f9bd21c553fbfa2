"""MQMQ: Put and Get of binary messages, in frames."""
