Feature: A host replaces the process of an extension
  The new one is negotiated with first, and the old one goes on if that fails.

  @0.2 @0.4 @EXT04-RELOAD-003 @EXT04-OWNER-007
  Scenario: A reload
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And the host reloads "alpha"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 2 times
    And the 1st "command/execute greet" to "alpha" has
      | /context/resource_owner/process_generation | 1 |
    And the 2nd "command/execute greet" to "alpha" has
      | /context/resource_owner/process_generation | 2 |

  @0.2 @0.4
  Scenario Outline: A reload with other commands
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"old-greeting"} |
    And the extension "alpha" leaves <feature>
    When the host runs the command "greet"
    And "alpha" is asked "command/execute greet"
    And the extension "alpha" answers from its next start on
      | command/execute greet | {"text":"new-greeting"} |
    And the extension "alpha" describes its commands anew from its next start on
    And the host reloads "alpha"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 2 times
    And the host says "re-registration required"
    And the host does not say "new-greeting"

    @EXT04-RELOAD-005
    Examples:
      | feature          |
      | runtime_commands |

    @EXT04-RELOAD-006
    Examples:
      | feature       |
      | dynamic_tools |

  @0.1 @0.2 @0.4 @EXT04-RELOAD-007
  Scenario: A reload that fails
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And "alpha" is asked "command/execute greet"
    And the extension "alpha" answers from its next start on
      | initialize | error internal_error |
    And the host reloads "alpha"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 2 times
    And "alpha" was 2 times asked "command/execute greet"

  @0.1 @0.2 @0.4 @EXT04-RELOAD-016
  Scenario: No start behind the end
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And the host ends
    Then "alpha" was started once

  @0.2 @0.4 @EXT04-RELOAD-015
  Scenario: Everything anew
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And the host starts its extensions anew
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 2 times
    And the 2nd "command/execute greet" to "alpha" is the first of another instance

  @0.1 @0.2 @0.4 @EXT04-RELOAD-009
  Scenario: An exit that nobody expected
    Given an extension "alpha" that answers
      | command/execute greet | and exits |
    When the host runs the command "greet"
    And "alpha" is asked "initialize" for the 2nd time
    And the host ends
    Then "alpha" was started 2 times

  @0.1 @0.2 @0.4 @EXT04-RELOAD-012 @EXT04-RELOAD-013
  Scenario: A version that is another one after an exit
    Given an extension "alpha" that answers
      | command/execute greet | and exits |
    And the extension "alpha" answers from its next start on
      | initialize | {"api_version":"9.9","tools":[],"commands":[]} |
    And the extension "alpha" answers from its next start on
      | initialize            | as usual           |
      | command/execute greet | {"text":"greeted"} |
    And an extension "beta" that answers
      | hook/run after_response | nothing |
    When the host runs the command "greet"
    And "alpha" is asked "initialize" for the 2nd time
    And the host is given the prompt "hello"
    And the host reloads "alpha"
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 3 times
    And "beta" was once asked "hook/run after_response"
    And "alpha" was 2 times asked "command/execute greet"
    And the host says "greeted"

  @0.1 @0.2 @0.4 @EXT04-SHUT-010
  Scenario: All end together
    Given an extension "alpha" that answers
      | shutdown | nothing |
    And an extension "beta" that answers
      | shutdown | nothing |
    And an extension "gamma" that answers
      | shutdown | nothing |
    When the host is given the prompt "hello"
    And the host ends
    Then all extensions end within 3000 ms

  @0.2 @0.4 @EXT04-RELOAD-004
  Scenario: The old process ends behind the start of the new one
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
      | shutdown              | nothing            |
    And the extension "alpha" answers from its next start on
      | shutdown | as usual |
    When the host runs the command "greet"
    And the host reloads "alpha"
    And the host runs the command "greet"
    And the host ends
    Then the 2nd "initialize" to "alpha" comes before the 1st "shutdown"
    And the 1st "shutdown" to "alpha" comes before the 2nd "command/execute greet"

  @0.1 @EXT04-RELOAD-015
  Scenario: Everything anew on the version without owners
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"greeted"} |
    When the host runs the command "greet"
    And the host starts its extensions anew
    And the host runs the command "greet"
    And the host ends
    Then "alpha" was started 2 times
    And "alpha" was 2 times asked "command/execute greet"
