Feature: A host uses what it was given, and no more
  What an extension has not declared it is not asked for, and what is for the record does not reach the model.

  @0.1 @0.2 @0.4 @EXT04-RENDER-002 @EXT04-STATUS-003
  Scenario: Nothing but what was declared
    Given an extension "alpha" that answers
      | tool/call note        | says noted         |
      | command/execute greet | {"text":"greeted"} |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was asked nothing but
      | initialize            |
      | tool/call note        |
      | command/execute greet |
      | shutdown              |

  @0.2 @0.4 @EXT04-MENU-003 @EXT04-COMPLETE-006
  Scenario: Neither a menu nor a completion
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host is given the prompt "hello"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was asked nothing but
      | initialize            |
      | command/execute greet |
      | shutdown              |

  @0.1 @0.2 @0.4 @EXT04-NOTE-007
  Scenario: Context that no manifest declares
    Given an extension "alpha" that answers
      | hook/run before_prompt | {"context":[{"label":"a","content":"from-alpha"}]} |
    When the host is given the prompt "hello"
    And the host shows its extensions
    And the host ends
    Then "alpha" was once asked "hook/run before_prompt"
    And the model was asked 1 times
    And the model is not told "from-alpha"
    And the host says "context"

  @0.2 @0.4 @EXT04-RESULT-010
  Scenario: The metadata of a result
    Given an extension "alpha" that answers
      | tool/call note | {"is_error":false,"content":[{"type":"text","text":"noted"}],"metadata":{"kept":"for-the-record"}} |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then the model is told "noted"
    And the model is not told "for-the-record"

  @0.2 @0.4 @EXT04-PROG-011
  Scenario: The progress of a call
    Given an extension "alpha" that answers
      | tool/call note | tells $/progress {"request_id":"«parent»","sequence":1,"event":{"type":"status","message":"half-way-there"}} |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then the model was asked 2 times
    And the model is not told "half-way-there"
    And the host keeps "half-way-there" in no file

  @0.2 @0.4 @EXT04-NEG-029
  Scenario: What an offer should hold
    Given an extension "alpha"
    When the host is given the prompt "hello"
    And the host ends
    Then the host offers "alpha" the features
      | request_progress |
      | artifacts        |
      | lifecycle_events |
      | policy_intents   |
      | dynamic_tools    |
      | runtime_commands |

  @0.4 @EXT04-TOOL-011
  Scenario: What a host offers that makes prompts
    Given an extension "alpha"
    When the host is given the prompt "hello"
    And the host ends
    Then the host offers "alpha" the features
      | tool_prompt_metadata_v1 |

  @0.2 @0.4 @EXT04-AGENT-011
  Scenario: Agents without telemetry
    Given an extension "octet-subagents" that answers
      | command/execute greet | {"text":"greeted"} |
    And the extension "octet-subagents" leaves delegation_telemetry_v1
    When the host runs the command "greet"
    And the host shows its extensions
    And the host ends
    Then the host offers "octet-subagents" the features, or there is nothing to judge
      | agent_sessions |
    And "octet-subagents" was never asked "command/execute greet"
    And the host says "reinstall"

  @0.1 @0.2 @0.4 @EXT04-INIT-018
  Scenario: A start that fails is one start
    Given an extension "alpha" that answers
      | initialize            | error internal_error |
      | command/execute greet | {"text":"greeted"}   |
    And an extension "beta" that answers
      | hook/run after_response | nothing |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was started once
    And "beta" was once asked "hook/run after_response"

  @0.2 @0.4 @EXT04-DYN-018
  Scenario: Commands that only the answer to initialize names
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    And the extension "alpha" names the command "wave" at its start alone
    When the host runs the command "wave"
    And the host ends
    Then "alpha" was once asked "command/execute wave"

  @0.2 @0.4 @EXT04-DYN-016 @EXT04-DYN-017
  Scenario: A tool that is published during a call
    Given an extension "alpha" that answers
      | tool/call note | asks tools/register {"tools":[{"name":"later","description":"Published later.","parameters":{"type":"object"}}]} |
      | tool/call note | says noted |
    And the model calls the tool "note" with {"text":"one"}
    And the model calls the tool "note" with {"text":"two"}
    When the host is given the prompt "hello"
    And the host ends
    Then request 1 to the model does not tell "Published later."
    And request 2 to the model tells "Published later."
    And the 1st "tool/call note" to "alpha" has
      | /catalog_revision | 0 |
    And the 2nd "tool/call note" to "alpha" has
      | /catalog_revision | 1 |

  @0.4 @EXT04-COMPACT-007
  Scenario: Nothing to sum up
    Given an extension "alpha" that answers
      | command/execute greet | asks behind it session/compact {"parent_request_id":"«parent»","resource_owner":"«owner»"} |
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And "alpha" has asked "session/compact"
    And the host runs the command "greet"
    And the host ends
    Then the host answers "session/compact" of "alpha" with an error

  @0.2 @0.4 @EXT04-HOOK-046
  Scenario: Metadata that breaks a bound
    Given an extension "alpha" that answers
      | hook/run before_persistence | {"persistence_metadata":{"value":{"kept":"a-long-value-«repeat 17000 m»"},"public":true}} |
    When the host is given the prompt "hello"
    And the host ends
    Then "alpha" was once asked "hook/run before_persistence"
    And the host keeps "a-long-value" in no file
