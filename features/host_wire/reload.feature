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

  @0.2 @0.4 @EXT04-RELOAD-005
  Scenario: A reload with other commands
    Given an extension "alpha" that answers
      | command/execute greet | {"text":"old-greeting"} |
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
