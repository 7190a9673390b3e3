Feature: A host runs commands and gathers context
  A command is one of the catalog, and every request says whose it is.

  @0.1 @0.2 @0.4 @EXT04-CMD-004 @EXT04-CMD-005
  Scenario: A command
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet" with "you all"
    And the host runs the command "greet"
    And the host runs the command "nothing"
    And the host ends
    Then each "command/execute" to "alpha" has
      | /name              | "greet"                |
      | /arguments         | ["you","all"] or []    |
      | /context/workspace | a string               |
    And "alpha" was 2 times asked "command/execute greet"
    And the host says "greeted"

  @0.1 @0.2 @0.4 @EXT04-CTX-004
  Scenario: Who is asked for context
    Given an extension "alpha" that answers
      | context/collect | [] |
    And an extension "beta" that answers
      | hook/run before_prompt | {} |
    When the host is given the prompt "hello"
    And the host ends
    Then each "context/collect" to "alpha" has
      | /prompt  | "hello" or null |
      | /context | an object       |
    And "beta" was never asked "context/collect"

  @0.1 @0.2 @0.4 @EXT04-CTX-006
  Scenario: Context without a placement
    Given an extension "alpha" that answers
      | context/collect | [{"label":"a","content":"from-alpha"}] |
    When the host is given the prompt "hello-prompt"
    And the host ends
    Then "hello-prompt" stands in front of "from-alpha" in what the model is told

  @0.2 @0.4 @EXT04-OWNER-004 @EXT04-OWNER-005 @EXT04-OWNER-006 @EXT04-OWNER-008
  Scenario Outline: The session owns what it asks for
    Given an extension "alpha" that answers
      | context/collect           | []         |
      | hook/run before_prompt    | {}         |
      | hook/run after_response   | {}         |
      | hook/run before_tool_call | {}         |
      | hook/run after_tool_call  | {}         |
      | tool/call note            | says noted |
      | command/execute greet     | {}         |
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host runs the command "greet"
    And the host ends
    Then each "<topic>" to "alpha" has
      | /context/resource_owner/session_id            | a string |
      | /context/resource_owner/extension_instance_id | a string |
      | /context/resource_owner/process_generation    | 1        |
    And the owner of "<topic>" to "alpha" does not show the session

    Examples:
      | topic                     |
      | context/collect           |
      | hook/run before_prompt    |
      | hook/run after_response   |
      | hook/run before_tool_call |
      | hook/run after_tool_call  |
      | tool/call note            |
      | command/execute greet     |

  @0.2 @0.4 @EXT04-CALL-008
  Scenario Outline: The revision of the catalog
    Given an extension "alpha" that answers
      | tool/call note | says noted |
    And the extension "alpha" <what> dynamic_tools
    And the model calls the tool "note" with {"text":"this"}
    When the host is given the prompt "hello"
    And the host ends
    Then each "tool/call note" to "alpha" has
      | /catalog_revision       | <revision> |
      | /context/resource_owner | an object  |

    Examples:
      | what    | revision |
      | leaves  | nothing  |
