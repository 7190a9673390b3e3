Feature: A host serves an extension while it waits for it, and draws with it
  What is asked for is done before the answer comes, and what hangs on a question ends with it.

  @0.4 @EXT04-HOOK-070
  Scenario: An entry that is left while a hook is awaited
    Given an extension "alpha" that answers
      | hook/run model_turn_start | asks session/append_entry {"parent_request_id":"«parent»","entry_type":"note","data":1} |
      | hook/run model_turn_end   | asks session/append_entry {"parent_request_id":"«parent»","entry_type":"note","data":2} |
    When the host is given the prompt "hello"
    And the host ends
    Then the host answers "session/append_entry" of "alpha" with a result
    And "alpha" was once asked "hook/run model_turn_end"

  @0.4 @EXT04-HOOK-071
  Scenario: An entry that comes too late
    Given an extension "alpha" that answers
      | hook/run model_turn_start | asks behind it session/append_entry {"parent_request_id":"«parent»","entry_type":"note","data":1} |
    When the host is given the prompt "hello"
    And "alpha" has asked "session/append_entry"
    And the host ends
    Then the host answers "session/append_entry" of "alpha" with an error

  @0.4 @EXT04-HOOK-072
  Scenario: A summary from inside a hook
    Given an extension "alpha" that answers
      | hook/run model_turn_start | asks session/compact {"parent_request_id":"«parent»","resource_owner":"«owner»"} |
    When the host is given the prompt "hello"
    And the host ends
    Then the host answers "session/compact" of "alpha" with an error
    And the model was asked 1 times

  @0.4 @EXT04-HOOK-085
  Scenario: The result of a tool in a summary
    Given an extension "alpha" that answers
      | tool/call note               | says «repeat 3000 ~» |
      | hook/run compaction_strategy | draws 1               |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "first"
    And the host is given the prompt "second"
    And the host sums the conversation up
    And the host ends
    Then the texts of "hook/run compaction_strategy" to "alpha" have "~" at most 2000 times

  @0.4 @EXT04-HOOK-090
  Scenario: Pictures in the place of a summary
    Given an extension "alpha" that answers
      | hook/run compaction_strategy | draws 1 |
    When the host is given the prompt "first-words"
    And the host is given the prompt "second"
    And the host sums the conversation up
    And the host is given the prompt "third"
    And the host begins another conversation
    And the host is given the prompt "fourth"
    And the host ends
    Then request 3 to the model tells "data:image/png;base64,"
    And request 3 to the model does not tell "first-words"
    And request 4 to the model does not tell "data:image/png;base64,"

  @0.4 @EXT04-HOOK-087
  Scenario: More pictures than a summary may have
    Given an extension "alpha" that answers
      | hook/run compaction_strategy | draws 32 |
    And the model says 20000 bytes
    When the host is given the prompt "first-words"
    And the host is given the prompt "second"
    And the host sums the conversation up
    And the host is given the prompt "third"
    And the host ends
    Then the model was asked 3 times
    And request 3 to the model tells "first-words"
    And request 3 to the model does not tell "data:image/png;base64,"
    And the host says "compaction_strategy"

  @0.2 @0.4 @EXT04-EVENT-010
  Scenario: The turns of a child
    Given an extension "octet-subagents" that answers
      | tool/call note | asks agent/spawn {"parent_request_id":"«parent»","task_name":"look","message":"Look closely.","idempotency_key":"k","policy":{"tools":["read"],"max_depth":1,"max_concurrent_children":1,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}} and then agent/wait {"parent_request_id":"«parent»"} |
    And the extension "octet-subagents" subscribes to turn/started, turn/settled
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then the host answers "agent/spawn" of "octet-subagents" with a result
    And the model is told "Look closely."
    And "octet-subagents" was once asked "turn/started"
    And "octet-subagents" was once asked "turn/settled"

  @0.2 @0.4 @EXT04-ENVIRON-005 @EXT04-ENVIRON-007
  Scenario: A variable that manifests may list
    Given an extension "alpha"
    And the manifest of "alpha" lists the variable "SSH_AUTH_SOCK"
    And an extension "beta"
    And the machine has the variable "SSH_AUTH_SOCK"
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" is given the variable "SSH_AUTH_SOCK"
    And "beta" is not given the variable "SSH_AUTH_SOCK"
    And the host neither tells nor keeps the values of variables

  @0.1 @EXT04-ENVIRON-005
  Scenario: A variable on the version that has none
    Given an extension "alpha"
    And the machine has the variable "SSH_AUTH_SOCK"
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" is not given the variable "SSH_AUTH_SOCK"
    And the host neither tells nor keeps the values of variables
